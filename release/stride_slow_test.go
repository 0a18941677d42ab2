//go:build slow

package release

const stride = 1

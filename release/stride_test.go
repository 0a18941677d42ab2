//go:build !slow

package release

// stride: every so many calls a test that walks them all looks at one; with -tags slow at
// each.
const stride = 7

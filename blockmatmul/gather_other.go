//go:build !amd64 || purego

package blockmatmul

// vector is false where no assembly kernel was built in.
const vector = false

func narrowStrip(int, *int64, *int16, *int64, *int32, int, int, int, int) int {
	panic("blockmatmul: no assembly kernel in this build")
}

func wideStrip(int, *int64, *int32, *int64, *int32, int, int, int, int) int {
	panic("blockmatmul: no assembly kernel in this build")
}

package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// file is an output that gets its name when it is complete. Writes go to the
// buffer, through the compressor, to a temporary file beside the final one.
type file struct {
	*bufio.Writer
	path     string
	temp     *os.File
	compress io.WriteCloser // nil without compression
	below    *bufio.Writer  // between compressor and file
	done     bool
}

const bufferBytes = 1 << 16

func createFile(path string, c Compression) (*file, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("export: %s is a folder", path)
	}
	temp, err := tempBeside(path, "part")
	if err != nil {
		return nil, err
	}
	f := &file{path: path, temp: temp, below: bufio.NewWriterSize(temp, bufferBytes)}
	switch c {
	case Gzip:
		f.compress = gzip.NewWriter(f.below)
	case Zstd:
		// One goroutine: the bytes do not depend on the machine's load.
		f.compress, err = zstd.NewWriter(f.below, zstd.WithEncoderConcurrency(1))
		if err != nil {
			f.abort()
			return nil, fmt.Errorf("export: zstd: %w", err)
		}
	default:
		f.Writer = f.below
		return f, nil
	}
	f.Writer = bufio.NewWriterSize(f.compress, bufferBytes)
	return f, nil
}

// tempBeside creates a hidden file in the folder of path. Its mode is that of a
// file created by name, unlike os.CreateTemp's.
func tempBeside(path, kind string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s.%s.%s-%08x", dir, base, kind, rand.Uint32())
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("export: cannot write beside %s: %w", path, err)
		}
		return f, nil
	}
}

// commit completes the file and gives it its name. check, if not nil, looks at
// the complete temporary file first.
func (f *file) commit(check func(*os.File) error) error {
	if f.done {
		return nil
	}
	err := f.flush()
	if err == nil && check != nil {
		err = check(f.temp)
	}
	if err == nil {
		err = f.temp.Sync()
	}
	if err == nil {
		err = f.temp.Close()
	}
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		f.abort()
		return fmt.Errorf("export: %s was not written: %w", f.path, err)
	}
	f.done = true
	return nil
}

func (f *file) flush() error {
	if err := f.Flush(); err != nil {
		return err
	}
	if f.compress == nil {
		return nil
	}
	if err := f.compress.Close(); err != nil {
		return err
	}
	return f.below.Flush()
}

// abort removes the temporary file. After commit it does nothing.
func (f *file) abort() {
	if f.done {
		return
	}
	f.done = true
	f.temp.Close()
	os.Remove(f.temp.Name())
}

package partition

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/privcom/privcom/storage"
)

// workspace makes temporary files and counts what was written to them.
type workspace struct {
	dir     string
	spilled atomic.Int64
	mu      sync.Mutex
	open    []*spill
}

// pageBytes is the unit in which a spill takes memory.
const pageBytes = 1 << 16

// spill is a log of bytes that lies in memory up to a limit and in a temporary
// file beyond it. Append first, then read. Reads may be concurrent.
type spill struct {
	space *workspace
	limit int64
	pages [][]byte // all but the last are full
	file  *os.File // nil: everything is in pages
	size  int64
}

// newSpill makes an empty spill. The workspace closes it, at the latest.
func (w *workspace) newSpill(limit int64) *spill {
	s := &spill{space: w, limit: limit}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, s)
	return s
}

// close removes everything that is still open.
func (w *workspace) close() error {
	var all []error
	for _, s := range w.open {
		all = append(all, s.close())
	}
	w.open = nil
	return errors.Join(all...)
}

func (s *spill) wrap(op string, err error) error {
	return storage.Wrap(op+" temporary file", "", s.space.dir, err)
}

// Write appends.
func (s *spill) Write(p []byte) (int, error) {
	if s.file == nil && s.size+int64(len(p)) > s.limit {
		if err := s.toFile(); err != nil {
			return 0, err
		}
	}
	if s.file != nil {
		return s.writeBuffered(p)
	}
	n := len(p)
	for len(p) > 0 {
		page := s.lastPage()
		k := copy((*page)[len(*page):cap(*page)], p)
		*page = (*page)[:len(*page)+k]
		p = p[k:]
	}
	s.size += int64(n)
	return n, nil
}

// lastPage is a page with room. The first one grows to its size, because most
// spills of a small graph hold little.
func (s *spill) lastPage() *[]byte {
	last := len(s.pages) - 1
	switch {
	case last < 0:
		s.pages = append(s.pages, make([]byte, 0, 1<<10))
		last++
	case len(s.pages[last]) < cap(s.pages[last]):
	case cap(s.pages[last]) < pageBytes:
		grown := make([]byte, len(s.pages[last]), 4*cap(s.pages[last]))
		copy(grown, s.pages[last])
		s.pages[last] = grown
	default:
		s.pages = append(s.pages, make([]byte, 0, pageBytes))
		last++
	}
	return &s.pages[last]
}

// writeBuffered appends to the file, through the one page that is left.
func (s *spill) writeBuffered(p []byte) (int, error) {
	if len(s.pages[0])+len(p) > cap(s.pages[0]) {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	if len(p) > cap(s.pages[0]) {
		if err := s.writeFile(p); err != nil {
			return 0, err
		}
	} else {
		s.pages[0] = append(s.pages[0], p...)
	}
	s.size += int64(len(p))
	return len(p), nil
}

// toFile moves the pages to a file; one page stays as the write buffer.
func (s *spill) toFile() error {
	file, err := os.CreateTemp(s.space.dir, "privcom-spill-*")
	if err != nil {
		return s.wrap("make a", err)
	}
	s.file = file
	// An open file without a name goes with the process, however that ends.
	// Where this is not possible (Windows) close removes it.
	_ = os.Remove(file.Name())
	for _, page := range s.pages {
		if err := s.writeFile(page); err != nil {
			return err
		}
	}
	s.pages = [][]byte{make([]byte, 0, min(max(s.limit, 1<<12), 4*pageBytes))}
	return nil
}

func (s *spill) flush() error {
	err := s.writeFile(s.pages[0])
	s.pages[0] = s.pages[0][:0]
	return err
}

func (s *spill) writeFile(p []byte) error {
	n, err := s.file.Write(p)
	s.space.spilled.Add(int64(n))
	return s.wrap("write a", err)
}

// done ends appending; only then may a spill be read.
func (s *spill) done() error {
	if s.file == nil {
		return nil
	}
	err := s.flush()
	s.pages = nil
	return err
}

// ReadAt follows io.ReaderAt, after done.
func (s *spill) ReadAt(p []byte, off int64) (int, error) {
	if s.file != nil {
		n, err := s.file.ReadAt(p, off)
		if err != nil && err != io.EOF {
			err = s.wrap("read a", err)
		}
		return n, err
	}
	n := 0
	for n < len(p) && off < s.size {
		k := copy(p[n:], s.pages[off/pageBytes][off%pageBytes:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// reserve makes the log n bytes long, to be filled by WriteAt in any order.
func (s *spill) reserve(n int64) error {
	s.size = n
	if n > s.limit {
		if err := s.toFile(); err != nil {
			return err
		}
		s.pages = nil
		return nil
	}
	for ; n > 0; n -= pageBytes {
		s.pages = append(s.pages, make([]byte, min(n, pageBytes)))
	}
	return nil
}

// WriteAt fills a part of what reserve made.
func (s *spill) WriteAt(p []byte, off int64) (int, error) {
	if s.file != nil {
		n, err := s.file.WriteAt(p, off)
		s.space.spilled.Add(int64(n))
		return n, s.wrap("write a", err)
	}
	for done := 0; done < len(p); {
		k := copy(s.pages[off/pageBytes][off%pageBytes:], p[done:])
		done += k
		off += int64(k)
	}
	return len(p), nil
}

// close frees memory and file.
func (s *spill) close() error {
	s.pages = nil
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := s.file.Close()
	s.file = nil
	if rm := os.Remove(name); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	s.size = 0
	return s.wrap("remove a", err)
}

// words reads consecutive 4-byte numbers of a spill in blocks.
type words struct {
	from *spill
	off  int64
	end  int64
	buf  []byte
}

// readWords reads the 4-byte numbers [first, first+n).
func (s *spill) readWords(first, n int64) *words {
	return &words{from: s, off: 4 * first, end: 4 * (first + n), buf: make([]byte, min(4*n, pageBytes))}
}

// next gives up to max numbers as bytes, none at the end. They are valid until
// the next call.
func (w *words) next(ctx context.Context, max int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := min(int64(len(w.buf)), w.end-w.off, 4*max)
	if n <= 0 {
		return nil, nil
	}
	if _, err := io.ReadFull(io.NewSectionReader(w.from, w.off, n), w.buf[:n]); err != nil {
		return nil, err
	}
	w.off += n
	return w.buf[:n], nil
}

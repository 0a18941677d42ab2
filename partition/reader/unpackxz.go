package reader

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz"
)

// openXZ reads xz streams. The dictionary size in the first block header is
// checked before the decoder makes a dictionary of that size.
func openXZ(file string, p *packed) (io.Reader, string, func(), error) {
	none := func() {}
	head, _ := p.Peek(1024)
	if size := xzDictionary(head); size > maxWindow {
		return nil, "xz", none, &FileError{File: file, Byte: 0,
			Reason: "the xz data need a dictionary of " + sizeText(int(min(size, 1<<32))) + ", more than " + sizeText(maxWindow),
			Remedy: "Unpack it, or pack it again with xz -6."}
	}
	f := &xzFooter{src: p}
	zr, err := xz.NewReader(f)
	if err != nil {
		return nil, "xz", none, unpackError(file, "xz", p.offset(), err)
	}
	f.rd = zr
	return &watched{file: file, kind: "xz", src: p, rd: &xzWhole{f}}, "xz", none, nil
}

// xzFooter passes the packed bytes on and remembers the last 12 before any
// padding of zeros: the decoder takes a file that is cut off between a block
// and the index for a whole one.
type xzFooter struct {
	src   *packed
	rd    io.Reader // the decoder
	last  []byte
	zeros int
}

const xzFooterSize = 12

func (f *xzFooter) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	for _, c := range p[:n] {
		f.note(c)
	}
	return n, err
}

func (f *xzFooter) note(c byte) {
	if c == 0 {
		f.zeros++
		return
	}
	for range min(f.zeros, xzFooterSize) {
		f.last = append(f.last, 0)
	}
	f.zeros = 0
	f.last = append(f.last, c)
	if n := len(f.last); n > 64*xzFooterSize {
		f.last = append(f.last[:0], f.last[n-xzFooterSize:]...)
	}
}

// whole says that the last bytes are a stream footer: CRC32, size of the
// index, flags, "YZ" (xz file format 1.0.4, section 2.1.2).
func (f *xzFooter) whole() bool {
	n := len(f.last)
	if n < xzFooterSize {
		return false
	}
	foot := f.last[n-xzFooterSize:]
	return string(foot[10:]) == "YZ" && binary.LittleEndian.Uint32(foot) == crc32.ChecksumIEEE(foot[4:10])
}

// xzWhole reads what is unpacked and checks the end.
type xzWhole struct{ *xzFooter }

func (x *xzWhole) Read(p []byte) (int, error) {
	n, err := x.rd.Read(p)
	if isEOF(err) && !x.whole() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// xzDictionary reads the LZMA2 dictionary size of the first block, 0 when the
// header is not as expected (the decoder then says what is wrong).
// Layout: xz file format 1.0.4, sections 2.1.1, 3.1 and 5.3.1.
func xzDictionary(head []byte) int64 {
	const streamHeader = 12
	if len(head) < streamHeader+2 {
		return 0
	}
	block := head[streamHeader:]
	size := (int(block[0]) + 1) * 4
	flags := block[1]
	if block[0] == 0 || len(block) < size {
		return 0
	}
	block = block[2:size]
	for _, bit := range []byte{0x40, 0x80} { // optional sizes, as variable-length integers
		if flags&bit == 0 {
			continue
		}
		for len(block) > 0 && block[0]&0x80 != 0 {
			block = block[1:]
		}
		if len(block) == 0 {
			return 0
		}
		block = block[1:]
	}
	if len(block) < 3 || block[0] != 0x21 || block[1] != 1 || block[2] > 40 {
		return 0
	}
	if block[2] == 40 {
		return 1<<32 - 1
	}
	return int64(2|int64(block[2]&1)) << (block[2]/2 + 11)
}

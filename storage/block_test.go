package storage

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"pgregory.net/rapid"
)

func TestBlockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(1, 40).Draw(t, "cols")
		rows := rapid.IntRange(0, 70).Draw(t, "rows")
		first := rapid.IntRange(0, math.MaxInt).Draw(t, "first")
		block := Block[int64]{FirstRow: first, Cols: cols, Data: rapid.SliceOfN(rapid.Int64(), rows*cols, rows*cols).Draw(t, "data")}
		buf, err := EncodeBlock(block)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeBlock[int64](buf)
		if err != nil {
			t.Fatal(err)
		}
		if back.FirstRow != first || back.Cols != cols || back.Rows() != rows || !slices.Equal(back.Data, block.Data) {
			t.Fatalf("got %+v", back)
		}
	})
}

func TestBlockElementTypes(t *testing.T) {
	a, err := EncodeBlock(Block[int32]{FirstRow: 1, Cols: 3, Data: []int32{1, -2, math.MaxInt32, 4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeBlock[int32](a); err != nil || back.Data[2] != math.MaxInt32 {
		t.Fatal(back, err)
	}
	if _, err := DecodeBlock[int64](a); err == nil {
		t.Error("int32 block decoded as int64")
	}
	f, err := EncodeBlock(Block[float64]{Cols: 1, Data: []float64{math.Inf(-1), math.Copysign(0, -1)}})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeBlock[float64](f); err != nil || !math.Signbit(back.Data[1]) {
		t.Fatal(back, err)
	}
	if _, err := DecodeBlock[int64](f); err == nil {
		t.Error("float64 block decoded as int64")
	}
}

// An independent reader of Arrow streams sees the same matrix.
func TestBlockIsArrow(t *testing.T) {
	buf, err := EncodeBlock(Block[int32]{FirstRow: 70, Cols: 2, Data: []int32{1, 2, 3, 4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(buf))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal("no record batch")
	}
	list := r.Record().Column(0).(*array.FixedSizeList)
	values := list.ListValues().(*array.Int32).Int32Values()
	if r.Record().NumRows() != 3 || r.Schema().Field(0).Name != "value" || !slices.Equal(values, []int32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v %v", r.Schema(), values)
	}
	if at := r.Schema().Metadata().FindKey("first_row"); r.Schema().Metadata().Values()[at] != number(70) {
		t.Errorf("metadata %v", r.Schema().Metadata())
	}
}

func TestBlockRefusesBadShapes(t *testing.T) {
	for _, b := range []Block[int32]{{Cols: 0}, {Cols: -1}, {Cols: maxBlockCols + 1}, {Cols: 2, Data: make([]int32, 3)}, {FirstRow: -1, Cols: 1}} {
		if _, err := EncodeBlock(b); err == nil {
			t.Errorf("%+v encoded", b)
		}
	}
}

// One changed, lost or added byte anywhere is seen, or changes an entry only.
func TestBlockDamageIsSeen(t *testing.T) {
	block := Block[int64]{FirstRow: 12, Cols: 2, Data: []int64{1, 2, 3, 4, 5, 6}}
	buf, _ := EncodeBlock(block)
	for i := range buf {
		bad := bytes.Clone(buf)
		bad[i] ^= 0x10
		back, err := DecodeBlock[int64](bad)
		inData := i >= len(buf)-8-6*8 && i < len(buf)-8
		// A digit of first_row is data too: the block it names is well formed.
		var corrupt *CorruptError
		if !inData && !errors.As(err, &corrupt) && back.FirstRow == 12 {
			t.Errorf("byte %d changed: %+v, %v", i, back, err)
		}
	}
	for n := range buf {
		if _, err := DecodeBlock[int64](buf[:n]); err == nil {
			t.Errorf("cut at %d bytes: decoded", n)
		}
	}
	if _, err := DecodeBlock[int64](append(bytes.Clone(buf), 0)); err == nil {
		t.Error("a trailing byte was accepted")
	}
}

func FuzzDecodeBlock(f *testing.F) {
	for _, b := range []Block[int32]{{Cols: 1}, {FirstRow: 9, Cols: 3, Data: []int32{1, 2, 3}}, {Cols: 2, Data: make([]int32, 64)}} {
		buf, err := EncodeBlock(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(buf)
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		block, err := DecodeBlock[int32](buf)
		if err != nil {
			return
		}
		again, err := EncodeBlock(block)
		if err != nil || !bytes.Equal(again, buf) {
			t.Fatalf("accepted bytes that are not an encoding: %v", err)
		}
	})
}

func BenchmarkBlock(b *testing.B) {
	block := Block[int32]{Cols: 16, Data: make([]int32, 1<<18)}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			EncodeBlock(block)
		}
	})
	buf, _ := EncodeBlock(block)
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			DecodeBlock[int32](buf)
		}
	})
}

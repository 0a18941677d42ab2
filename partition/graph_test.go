package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/storage"
)

// sampleFolder writes a small graph to a local folder.
func sampleFolder(t testing.TB, shards int, id func(int) string) (string, *Manifest) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var text strings.Builder
	for range 300 {
		fmt.Fprintf(&text, "%s,%s\n", id(rng.IntN(40)), id(rng.IntN(40)))
	}
	file := writeFile(t, "g.txt", text.String())
	dir := t.TempDir()
	b, err := storage.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Ingest(t.Context(), Options{Inputs: []string{file}, Shards: shards, RowGroupArcs: 100, TempDir: t.TempDir()}, b)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func verifyFolder(t testing.TB, dir string) error {
	b, err := storage.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := OpenGraph(t.Context(), b)
	if err != nil {
		return err
	}
	return g.Verify(t.Context())
}

// One changed byte in any file is found, and the file is named.
func TestDamageIsFoundAndNamed(t *testing.T) {
	for _, id := range []func(int) string{number, kinds["words"]} {
		dir, m := sampleFolder(t, 2, id)
		if err := verifyFolder(t, dir); err != nil {
			t.Fatal(err)
		}
		keys := append([]string{ManifestKey}, m.Shards[1].Key, m.VertexFiles[0].Key)
		for _, key := range keys {
			name := filepath.Join(dir, key)
			good, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range [][]byte{flip(good, len(good)/2), flip(good, 3), good[:len(good)-1], append(bytes.Clone(good), 'x'), nil} {
				if key == ManifestKey && len(bad) == len(good)-1 {
					continue // only the last line end is gone
				}
				if err := os.WriteFile(name, bad, 0o644); err != nil {
					t.Fatal(err)
				}
				var corrupt *storage.CorruptError
				if err := verifyFolder(t, dir); !errors.As(err, &corrupt) || corrupt.Key != key {
					t.Errorf("%s damaged: %v", key, err)
				}
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := verifyFolder(t, dir); err == nil || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), key) {
				t.Errorf("%s removed: %v", key, err)
			}
			if err := os.WriteFile(name, good, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func flip(data []byte, i int) []byte {
	data = bytes.Clone(data)
	data[i] ^= 1
	return data
}

func TestFolderWithoutManifest(t *testing.T) {
	b, _ := storage.Open(t.Context(), t.TempDir())
	if _, err := OpenGraph(t.Context(), b); !errors.Is(err, storage.ErrNotExist) || !strings.Contains(err.Error(), "holds no graph") {
		t.Errorf("got %v", err)
	}
}

// A manifest whose hash is right but whose parts do not fit is refused.
func TestManifestMustHoldTogether(t *testing.T) {
	_, m := sampleFolder(t, 3, number)
	for name, change := range map[string]func(m *Manifest){
		"format":        func(m *Manifest) { m.Format = "other" },
		"version":       func(m *Manifest) { m.Version = 2 },
		"vertices":      func(m *Manifest) { m.Vertices++ },
		"odd arcs":      func(m *Manifest) { m.Arcs++ },
		"arcs":          func(m *Manifest) { m.Arcs += 2 },
		"id type":       func(m *Manifest) { m.IDType = "float" },
		"id encoding":   func(m *Manifest) { m.IDEncoding = "utf-8" },
		"shards":        func(m *Manifest) { m.Shards = m.Shards[:2] },
		"no shards":     func(m *Manifest) { m.Shards, m.VertexFiles = nil, nil },
		"first row":     func(m *Manifest) { m.Shards[1].FirstRow++ },
		"rows":          func(m *Manifest) { m.Shards[1].Rows-- },
		"negative":      func(m *Manifest) { m.Shards[0].Arcs = -2 },
		"vertex rows":   func(m *Manifest) { m.VertexFiles[2].Rows++ },
		"group arcs":    func(m *Manifest) { m.Shards[0].Groups[0].Arcs++ },
		"group first":   func(m *Manifest) { m.Shards[0].Groups[1].FirstRow--; m.Shards[0].Groups[1].FirstRow-- },
		"group missing": func(m *Manifest) { m.Shards[0].Groups = m.Shards[0].Groups[1:] },
	} {
		data, _ := m.seal()
		changed := &Manifest{}
		if err := json.Unmarshal(data, changed); err != nil {
			t.Fatal(err)
		}
		if _, err := parseManifest(data); err != nil {
			t.Fatal(err)
		}
		change(changed)
		data, err := changed.seal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseManifest(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	data, _ := m.seal()
	for _, bad := range []string{"", "null", "[]", string(data) + "{}", strings.Replace(string(data), `"arcs"`, `"arks"`, 1)} {
		if _, err := parseManifest([]byte(bad)); err == nil {
			t.Errorf("%.30q: accepted", bad)
		}
	}
}

// What a shard may not hold is refused even when its hash is right.
func TestShardContentIsChecked(t *testing.T) {
	write := func(arcs []arcRow) (*storage.File, *Shard) {
		b, _ := storage.Open(t.Context(), "mem://")
		w, _ := b.NewWriter(t.Context(), "s")
		p, err := storage.NewParquet[arcRow](w, storage.ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.Write(arcs)
		p.Close()
		w.Commit()
		f, err := b.OpenFile(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return f, &Shard{Key: "s", FirstRow: 2, Rows: 4, Arcs: int64(len(arcs)), Groups: []Group{{2, 4, int64(len(arcs))}}}
	}
	f, s := write([]arcRow{{3, 1}, {3, 9}, {5, 0}})
	csr, err := decodeShard(t.Context(), f, s, 10)
	if err != nil || fmt.Sprint(csr.First, csr.Ptr, csr.Col) != "2 [0 0 2 2 3] [1 9 0]" {
		t.Fatalf("%+v %v", csr, err)
	}
	for name, arcs := range map[string][]arcRow{
		"row before": {{1, 5}}, "row after": {{6, 5}}, "loop": {{3, 3}}, "column": {{3, 10}}, "negative": {{3, -1}},
		"repeat": {{3, 1}, {3, 1}}, "columns out of order": {{3, 4}, {3, 1}}, "rows out of order": {{4, 1}, {3, 1}},
	} {
		f, s := write(arcs)
		var corrupt *storage.CorruptError
		if _, err := decodeShard(t.Context(), f, s, 10); !errors.As(err, &corrupt) || corrupt.Key != "s" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Row groups may share a row only if that row is divided between them.
func TestOverlappingGroupsAreChecked(t *testing.T) {
	dir, m := sampleFolder(t, 1, number)
	b, _ := storage.Open(t.Context(), dir)
	s := m.Shards[0]
	s.Groups[0].Rows++
	f, err := b.OpenFile(t.Context(), s.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := decodeShard(t.Context(), f, &s, m.Vertices); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("got %v", err)
	}
}

// Verify finds what single shards do not show.
func TestVerifyFindsAsymmetry(t *testing.T) {
	whole := func(ptr []int64, col []int32) uint64 {
		v := verifier{degrees: newIDHash(), cols: newIDHash()}
		v.add(&blockmatmul.CSR{Ptr: ptr, Col: col})
		return v.balance
	}
	if whole([]int64{0, 1, 2, 2}, []int32{1, 0}) != 0 {
		t.Error("a symmetric matrix")
	}
	if whole([]int64{0, 1, 2, 2}, []int32{1, 2}) == 0 || whole([]int64{0, 1, 1, 1}, []int32{1}) == 0 {
		t.Error("an asymmetric matrix passed")
	}
}

// FuzzDecodeShard: any bytes give rows that fit the graph or a *CorruptError.
func FuzzDecodeShard(f *testing.F) {
	dir, m := sampleFolder(f, 1, number)
	good, err := os.ReadFile(filepath.Join(dir, m.Shards[0].Key))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	s := m.Shards[0]
	f.Fuzz(func(t *testing.T, data []byte) {
		b, _ := storage.Open(t.Context(), t.TempDir())
		if err := b.Put(t.Context(), s.Key, data); err != nil {
			t.Fatal(err)
		}
		file, err := b.OpenFile(t.Context(), s.Key)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		csr, err := decodeShard(t.Context(), file, &s, m.Vertices)
		var corrupt *storage.CorruptError
		if err != nil {
			if !errors.As(err, &corrupt) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if err := csr.Check(int(m.Vertices)); err != nil || int64(csr.Rows()) != s.Rows {
			t.Fatalf("accepted a bad shard: %v", err)
		}
	})
}

// FuzzParseManifest: any bytes give a manifest that holds together, or an error.
func FuzzParseManifest(f *testing.F) {
	_, m := sampleFolder(f, 2, number)
	data, _ := m.seal()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseManifest(data); err == nil && m.check() != nil {
			t.Fatal("accepted a manifest that does not hold together")
		}
	})
}

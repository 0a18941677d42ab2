package evaluate

import (
	"bytes"
	"compress/gzip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestReadLabelsForms(t *testing.T) {
	for _, c := range []struct {
		name, text      string
		o               LabelOptions
		format, column  string
		ids             []string
		want            []int32
		classes         []string
		unused, without int
	}{
		{"pairs", "# who is where\n7 red\n% more\n9\tblue\r\n8 red\n", LabelOptions{},
			"table", "2", []string{"7", "8", "9", "10"}, []int32{0, 0, 1, -1}, []string{"red", "blue"}, 0, 1},
		{"tabs keep spaces", "1\tMr. Hi\n2\tThe Officer\n", LabelOptions{},
			"table", "2", []string{"2", "1"}, []int32{1, 0}, []string{"Mr. Hi", "The Officer"}, 0, 0},
		{"header with usual names", "id,name,page_type,more\n1,\"a, \"\"b\"\"\",x,0\n2,c,y,0\n", LabelOptions{},
			"table", "page_type", []string{"1", "2"}, []int32{0, 1}, []string{"x", "y"}, 0, 0},
		{"last column", "\xef\xbb\xbfid;size;colour\n1;3;x\n2;4;\n3;1;x\n", LabelOptions{},
			"table", "colour", []string{"1", "2", "3"}, []int32{0, -1, 0}, []string{"x"}, 0, 1},
		{"named columns", "id,days,mature,new_id\n900,1,True,0\n901,2,False,1\n", LabelOptions{Column: "Mature", IDColumn: "new_id"},
			"table", "mature", []string{"0", "1"}, []int32{0, 1}, []string{"True", "False"}, 0, 0},
		{"numbered columns", "x 1 a\ny 2 b\nz 3 a\n", LabelOptions{Column: "3", IDColumn: "2"},
			"table", "3", []string{"1", "3"}, []int32{0, 0}, []string{"a", "b"}, 1, 0},
		{"quoted fields with spaces", `"1" "Dexter" "Hamster (Dwarf)"` + "\n" + `"2" "Tonks" "Gerbil"` + "\n", LabelOptions{Column: "3"},
			"table", "3", []string{"1", "2"}, []int32{0, 1}, []string{"Hamster (Dwarf)", "Gerbil"}, 0, 0},
		{"list", "8\n2\n\n8\n", LabelOptions{}, "list", "", []string{"a", "b", "c"}, []int32{0, 1, 0}, []string{"8", "2"}, 0, 0},
		{"list with header", "community\n8\n2\n", LabelOptions{}, "list", "", []string{"a", "b"}, []int32{0, 1}, []string{"8", "2"}, 0, 0},
		{"label repeated", "1 a\n1 a\n2 b\n", LabelOptions{}, "table", "2", []string{"1", "2"}, []int32{0, 1}, []string{"a", "b"}, 0, 0},
		{"GML", "Creator \"x [ y\"\ngraph [\n directed 1 # no\n node [ id 1 label \"n\" value 0 graphics [ value 9 ] ]\n" +
			" node [\n id 2\n value \"A &amp; B\"\n ]\n node [ id 3 ]\n edge [ source 1 target 2 value 5 ]\n]\n", LabelOptions{},
			"gml", "value", []string{"1", "2", "3"}, []int32{0, 1, -1}, []string{"0", "A & B"}, 0, 1},
		{"GML attribute by name", "graph\n[\n node\n [\n id 1 label \"p\" value 0 ] node [ id 2 label \"q\" value 0 ] ]", LabelOptions{Column: "label"},
			"gml", "label", []string{"1", "2"}, []int32{0, 1}, []string{"p", "q"}, 0, 0},
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(c.text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		for _, text := range []string{c.text, packed.String()} {
			l, err := ReadLabels(strings.NewReader(text), c.o)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			got, cover, err := l.Align(len(c.ids), func(v int) string { return c.ids[v] })
			if err != nil || !slices.Equal(got, c.want) || !slices.Equal(l.Classes, c.classes) || l.Format != c.format || l.Column != c.column {
				t.Errorf("%s: %v %v %q %q, want %v %v %q %q (%v)", c.name, got, l.Classes, l.Format, l.Column, c.want, c.classes, c.format, c.column, err)
			}
			if cover.Unused != c.unused || cover.Without != c.without || cover.Labelled != len(c.ids)-c.without {
				t.Errorf("%s: coverage %+v", c.name, cover)
			}
		}
	}
}

func TestReadLabelsRefusals(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for i := range 5000 {
		if _, err := w.Write([]byte(strconv.Itoa(i*i) + " " + strconv.Itoa(i) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text, says string
		o                LabelOptions
	}{
		{"empty", " \n", "empty", LabelOptions{}},
		{"comments only", "# a\n", "comments only", LabelOptions{}},
		{"binary", "1 a\x00\n", "byte 3", LabelOptions{}},
		{"cut gzip", packed.String()[:packed.Len()/2], "reading stopped", LabelOptions{}},
		{"two labels", "1 a\n2 a\n1 b\n", "line 3", LabelOptions{}},
		{"short line", "1 a\n2\n", "line 2: 1 fields", LabelOptions{}},
		{"long line", "1 a\n2 b c\n", "line 2: 3 fields", LabelOptions{}},
		{"long list line", "a\nb c\n", "line 2: 2 fields", LabelOptions{}},
		{"overlapping communities", "1 2 3\n3 4 5\n", "say which column", LabelOptions{}},
		{"no usual name", "id,days,new_id\n1,2,3\n", "id, days, new_id", LabelOptions{}},
		{"no such column", "id,a,label\n1,2,3\n", `no column "colour"`, LabelOptions{Column: "colour"}},
		{"no such number", "1 2\n", `no column "3"`, LabelOptions{Column: "3"}},
		{"one column for both", "1 2\n", "two columns", LabelOptions{Column: "1"}},
		{"open quote", "1 \"a\n", "line 1: a quoted field", LabelOptions{}},
		{"text after a quote", "1,\"a\"b\n", "follows the quoted field", LabelOptions{}},
		{"empty id", "1,a\n,b\n", "line 2: the vertex id is empty", LabelOptions{}},
		{"no label at all", "id,label\n", "no label", LabelOptions{}},
		{"GML without classes", "graph [ node [ id 1 ] ]", "usual name", LabelOptions{}},
		{"GML without that attribute", "graph [ node [ id 1 value 2 ] ]", `"club"`, LabelOptions{Column: "club"}},
		{"GML cut off", "graph [ node [ id 1 value 2 ]", "cut off", LabelOptions{}},
		{"GML with an open quote", "graph [\n node [ id 1 value \"2 ] ]", "line 2", LabelOptions{}},
		{"GML with a bracket too many", "graph [ node [ id 1 value 2 ] ] ]", "closing bracket", LabelOptions{}},
		{"GML key without value", "graph [ node [ id 1 value ] ]", "no value", LabelOptions{}},
		{"GML without id", "graph [ node [ value 1 ] ]", "id is empty", LabelOptions{}},
	} {
		l, err := ReadLabels(strings.NewReader(c.text), c.o)
		if err == nil || l != nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "labels: ") {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
	}
	if _, err := ReadLabelFile("testdata/none", LabelOptions{}); !os.IsNotExist(err) && !strings.Contains(err.Error(), "none") {
		t.Errorf("missing file: %v", err)
	}
	id := func(v int) string { return strconv.Itoa(v) }
	list, err := ReadLabels(strings.NewReader("a\nb\n"), LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := list.Align(3, id); err == nil || !strings.Contains(err.Error(), "2 lines") {
		t.Errorf("a list of another length: %v", err)
	}
	others, err := ReadLabels(strings.NewReader("x a\ny b\n"), LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, c, err := others.Align(3, id); err == nil || !strings.Contains(err.Error(), `"x"`) || c.Unused != 2 {
		t.Errorf("labels of another graph: %v", err)
	}
}

func TestRealLabelFiles(t *testing.T) {
	const data = "../../shared/data/"
	if _, err := os.Stat(data); err != nil {
		t.Skip("no ../shared/data next to the module: the real label files are not here")
	}
	for _, c := range []struct {
		file          string
		o             LabelOptions
		format        string
		count, labels int
	}{
		{"polblogs/polblogs.gml", LabelOptions{}, "gml", 1490, 2},
		{"polblogs/polblogs-undirected-0based.gml", LabelOptions{}, "gml", 1224, 2},
		{"polbooks/polbooks.gml", LabelOptions{}, "gml", 105, 3},
		{"football/football.gml", LabelOptions{}, "gml", 115, 12},
		{"karate/karate.gml", LabelOptions{}, "gml", 34, 2},
		{"karate/karate_club-qinyuenlp.gml", LabelOptions{}, "gml", 34, 2},
		{"email-eu-core/email-Eu-core-department-labels.txt", LabelOptions{}, "table", 1005, 42},
		{"musae-facebook/facebook_target.csv", LabelOptions{}, "table", 22470, 4},
		{"musae-twitch-de/DE_target.csv", LabelOptions{Column: "mature", IDColumn: "new_id"}, "table", 9498, 2},
		{"flickr-attr/Flickr.label", LabelOptions{}, "list", 7575, 9},
		{"petster-hamster/ent.petster-hamster", LabelOptions{Column: "4"}, "table", 2421, 0},
	} {
		l, err := ReadLabelFile(data+c.file, c.o)
		if err != nil {
			t.Error(err)
			continue
		}
		if l.Format != c.format || l.Len() != c.count || c.labels > 0 && len(l.Classes) != c.labels {
			t.Errorf("%s: %s, %d labels, %d classes; want %s, %d, %d", c.file, l.Format, l.Len(), len(l.Classes), c.format, c.count, c.labels)
		}
	}
	if _, err := ReadLabelFile(data+"musae-twitch-de/DE_target.csv", LabelOptions{}); err == nil {
		t.Error("a table whose last column is an id was read without a named column")
	}
}

func FuzzReadLabels(f *testing.F) {
	for _, s := range []string{"1 a\n2 b\n", "id,label\n1,\"x\"\"y\"\n", "a\nb\n", "graph [ node [ id 1 value \"2\" ] ]", "\xef\xbb\xbf1;\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadLabels(strings.NewReader(text), LabelOptions{})
		if err != nil {
			return
		}
		classes, c, err := l.Align(l.Len(), strconv.Itoa)
		if err == nil && (len(classes) != l.Len() || c.Labelled+c.Without != l.Len()) {
			t.Errorf("%d classes, coverage %+v for %d vertices", len(classes), c, l.Len())
		}
	})
}

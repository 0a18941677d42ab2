package reader

import (
	"slices"
	"strings"
)

// knownPairs are names of source and target columns, in normal form: lower
// case letters and digits only.
var knownPairs = [][2]string{
	{"source", "target"}, {"sourceid", "targetid"}, {"sourcenode", "targetnode"}, {"sourcenodeid", "targetnodeid"},
	{"src", "dst"}, {"src", "dest"}, {"src", "tgt"}, {"srcid", "dstid"}, {"source", "destination"}, {"source", "dest"},
	{"from", "to"}, {"fromid", "toid"}, {"fromnode", "tonode"}, {"fromnodeid", "tonodeid"}, {"fromvertex", "tovertex"}, {"fromuser", "touser"},
	{"start", "end"}, {"startid", "endid"}, {"startnode", "endnode"},
	{"tail", "head"}, {"row", "col"}, {"row", "column"},
	{"follower", "followee"}, {"follower", "following"}, {"follower", "followed"},
	{"sender", "receiver"}, {"sender", "recipient"}, {"citing", "cited"}, {"citingid", "citedid"},
	{"rater", "ratee"}, {"referrer", "referred"},
	{"user", "friend"}, {"userid", "friendid"},
}

// numbered are stems of names like id_1,id_2 or node_a,node_b.
var numbered = []string{"id", "node", "nodeid", "user", "userid", "vertex", "vertexid", "person", "personid", "name", "author", "actor",
	"character", "member", "memberid", "entity", "friend", "protein", "gene", "page", "source"}

// attributes are names of columns that are no ids.
var attributes = []string{"weight", "w", "edgeweight", "type", "label", "time", "timestamp", "date", "count", "value", "kind", "relation", "sign", "rating"}

// normal drops everything but letters and digits, and case.
func normal(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return -1
	}, name)
}

// knownPair finds the pair of names that says where source and target are:
// an index into knownPairs, or len(knownPairs) and more for numbered names;
// -1 for none.
func knownPair(names []string) int {
	norm := make([]string, len(names))
	for i, n := range names {
		norm[i] = normal(n)
	}
	for k, p := range knownPairs {
		if slices.Contains(norm, p[0]) && slices.Contains(norm, p[1]) {
			return k
		}
	}
	for k, p := range numberedPairs {
		if slices.Contains(norm, p[0]) && slices.Contains(norm, p[1]) {
			return len(knownPairs) + k
		}
	}
	return -1
}

var numberedPairs = func() (pairs [][2]string) {
	for _, stem := range numbered {
		for _, ends := range [][2]string{{"1", "2"}, {"a", "b"}, {"0", "1"}} {
			pairs = append(pairs, [2]string{stem + ends[0], stem + ends[1]}, [2]string{ends[0] + stem, ends[1] + stem})
		}
	}
	return pairs
}()

// columnPair is where the pair found by knownPair stands.
func columnPair(names []string, pair int) (source, target int) {
	p := [2]string{}
	if pair < len(knownPairs) {
		p = knownPairs[pair]
	} else {
		p = numberedPairs[pair-len(knownPairs)]
	}
	for i := len(names) - 1; i >= 0; i-- {
		switch normal(names[i]) {
		case p[0]:
			source = i
		case p[1]:
			target = i
		}
	}
	return source, target
}

// looksHeader says whether the first row names columns: it has a known pair of
// names that no later row looks like, or it has words where all later rows
// have two integers.
func looksHeader(names []string, rows [][]string) bool {
	if len(names) < 2 {
		return false
	}
	if pair := knownPair(names); pair >= 0 {
		return !idsLikeNames(names, pair, rows)
	}
	if allDigits([]byte(names[0])) || allDigits([]byte(names[1])) || len(rows) == 0 {
		return false
	}
	for _, n := range names {
		if n == "" || numberKind([]byte(n)) != notNumber || strings.Contains(n, "://") {
			return false
		}
	}
	for _, r := range rows {
		if len(r) != len(names) || !allDigits([]byte(r[0])) || !allDigits([]byte(r[1])) {
			return false
		}
	}
	return true
}

// idsLikeNames: in the edge list "node1 node2 / node2 node3" the first row is
// an edge.
func idsLikeNames(names []string, pair int, rows [][]string) bool {
	s, t := columnPair(names, pair)
	stem := ""
	if pair >= len(knownPairs) {
		stem = strings.TrimRight(normal(names[s]), "0123456789")
	}
	for _, r := range rows {
		if len(r) <= max(s, t) {
			continue
		}
		for _, id := range []string{r[s], r[t]} {
			if id == names[s] || id == names[t] {
				return true
			}
			if n := normal(id); stem != "" && strings.HasPrefix(n, stem) && len(n) > len(stem) && allDigits([]byte(n[len(stem):])) {
				return true
			}
		}
	}
	return false
}

// onlyAttributes says that all columns after the first two have names of
// attributes.
func onlyAttributes(names []string) bool {
	for _, n := range names[min(2, len(names)):] {
		if !slices.Contains(attributes, normal(n)) {
			return false
		}
	}
	for _, n := range names[:min(2, len(names))] {
		if slices.Contains(attributes, normal(n)) {
			return false
		}
	}
	return len(names) > 2
}

// sameNames says that two headers have the same names, in any order.
func sameNames(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// document is the part of SPDX 2.3 that a list of modules needs.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name     string      `json:"name"`
	ID       string      `json:"SPDXID"`
	Version  string      `json:"versionInfo"`
	Download string      `json:"downloadLocation"`
	Analyzed bool        `json:"filesAnalyzed"`
	Declared string      `json:"licenseDeclared"`
	Refs     []reference `json:"externalRefs"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// spdx lists the product, the standard library and every module that the linker put into
// one of the binaries, as their own build information has it.
func spdx(version string, created time.Time, paths []string) ([]byte, error) {
	modules, contains := map[string]string{}, map[string][]string{}
	sum := sha256.New()
	for _, p := range paths {
		info, err := buildinfo.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("%s carries no build information: %w", p, err)
		}
		fmt.Fprintf(sum, "%s %s\n", filepath.Base(p), info)
		binary := filepath.Base(p)
		put := func(name, v string) {
			modules[name] = v
			contains[binary] = append(contains[binary], name)
		}
		put("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			put(d.Path, d.Version)
		}
	}
	d := document{Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "privcom-" + version,
		Namespace: fmt.Sprintf("urn:privcom:sbom:%s:%x", url.PathEscape(version), sum.Sum(nil)[:8]),
		Creation:  creation{created.Format(time.RFC3339), []string{"Tool: privcom-image"}}}
	for _, binary := range slices.Sorted(maps.Keys(contains)) {
		d.Packages = append(d.Packages, entry(binary, "Binary", "github.com/privcom/privcom", version, "Apache-2.0"))
		d.Relationships = append(d.Relationships, relationship{d.ID, "DESCRIBES", "SPDXRef-Binary-" + binary})
		for _, m := range contains[binary] {
			d.Relationships = append(d.Relationships, relationship{"SPDXRef-Binary-" + binary, "CONTAINS", "SPDXRef-Module-" + identifier(m)})
		}
	}
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		d.Packages = append(d.Packages, entry(m, "Module", m, modules[m], "NOASSERTION"))
	}
	data, err := json.MarshalIndent(d, "", " ")
	return append(data, '\n'), err
}

func entry(name, kind, module, version, licence string) spdxPackage {
	return spdxPackage{Name: name, ID: "SPDXRef-" + kind + "-" + identifier(name), Version: version, Download: "NOASSERTION", Declared: licence,
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + module + "@" + url.PathEscape(version)}}}
}

// identifier keeps what SPDX allows in an id.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, s)
}

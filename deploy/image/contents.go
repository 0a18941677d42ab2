package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who the processes are: nobody that any base image knows.
const user = 65532

// contents are the files and the configuration of an image.
type contents struct {
	created time.Time
	arch    string
	files   []file
	config  v1.Config
	sbom    []byte
}

// file is one file of the layer.
type file struct {
	name string // without a leading slash
	mode int64
	data []byte
}

func (c *contents) add(name string, mode int64, data []byte) {
	c.files = append(c.files, file{name, mode, data})
}

// product fills in PrivCom's image from built binaries.
func (c *contents) product(o options, dir string) error {
	var paths []string
	for _, b := range binaries {
		p := filepath.Join(dir, b)
		data, err := readStatic(p, o.arch)
		if err != nil {
			return err
		}
		c.add("bin/"+b, 0o755, data)
		paths = append(paths, p)
	}
	roots, err := authorities()
	if err != nil {
		return err
	}
	c.add("etc/ssl/certs/ca-certificates.crt", 0o644, roots)
	c.add("etc/passwd", 0o644, fmt.Appendf(nil, "privcom:x:%d:%d:privcom:/:/none\n", user, user))
	c.add("etc/group", 0o644, fmt.Appendf(nil, "privcom:x:%d:\n", user))
	if c.sbom, err = spdx(o.version, o.created, paths); err != nil {
		return err
	}
	c.add("usr/share/doc/privcom/sbom.spdx.json", 0o644, c.sbom)
	licence, err := os.ReadFile(filepath.Join(o.root, "LICENSE"))
	if err != nil {
		return err
	}
	c.add("usr/share/doc/privcom/LICENSE", 0o644, licence)
	c.config = v1.Config{User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/bin/privcom"}, WorkingDir: "/",
		Env: []string{"PATH=/bin"}, Labels: labels(o)}
	return nil
}

// labels are those that the OCI image specification names.
func labels(o options) map[string]string {
	l := map[string]string{
		"org.opencontainers.image.title":       "privcom",
		"org.opencontainers.image.description": "Private spectral release of graphs: privcom, coordinator, shard",
		"org.opencontainers.image.version":     o.version,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.created":     o.created.Format(time.RFC3339),
	}
	if o.revision != "" {
		l["org.opencontainers.image.revision"] = o.revision
	}
	return l
}

// single fills in an image of one static binary.
func (c *contents) single(o options) error {
	data, err := readStatic(o.static, o.arch)
	if err != nil {
		return err
	}
	name := "bin/" + filepath.Base(o.static)
	c.add(name, 0o755, data)
	c.config = v1.Config{User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/" + name}, WorkingDir: "/", Env: []string{"PATH=/bin"}}
	return nil
}

// readStatic reads a binary that needs no loader: nothing else is in the image.
func readStatic(name, arch string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s is no Linux binary: %w", name, err)
	}
	defer e.Close()
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			return nil, fmt.Errorf("%s is not static: it asks for a loader, and the image has none; build it with CGO_ENABLED=0", name)
		}
	}
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]
	if e.Machine != machine {
		return nil, fmt.Errorf("%s is for %s, the image for %q (amd64 or arm64)", name, e.Machine, arch)
	}
	return data, nil
}

// authorities are Mozilla's, as golang.org/x/crypto carries them, in the file that Go looks
// for: taken from a module of a fixed version and not from the machine that builds.
func authorities() ([]byte, error) {
	var blocks [][]byte
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // a list of certificates cannot say what this one is limited to
		}
		if _, err := x509.ParseCertificate(root.Certificate); err != nil {
			return nil, err
		}
		blocks = append(blocks, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
	}
	slices.SortFunc(blocks, bytes.Compare)
	return bytes.Join(blocks, nil), nil
}

// layer is the tar file of all files, sorted, with their folders, owned by root, and of an
// empty /tmp.
func (c *contents) layer() ([]byte, error) {
	files := slices.SortedFunc(slices.Values(c.files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{".": true}
	var folder func(dir string) error
	folder = func(dir string) error {
		if made[dir] {
			return nil
		}
		made[dir] = true
		if err := folder(path.Dir(dir)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: c.created, Format: tar.FormatPAX})
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: c.created, Format: tar.FormatPAX}); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := folder(path.Dir(f.name)); err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: c.created, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// image assembles it: one layer and its configuration.
func (c *contents) image() (v1.Image, error) {
	data, err := c.layer()
	if err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(empty.Image, mutate.Addendum{Layer: l, History: v1.History{CreatedBy: "privcom-image", Created: v1.Time{Time: c.created}}})
	if err != nil {
		return nil, err
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	cfg = cfg.DeepCopy()
	cfg.Architecture, cfg.OS, cfg.Created, cfg.Config = c.arch, "linux", v1.Time{Time: c.created}, c.config
	return mutate.ConfigFile(img, cfg)
}

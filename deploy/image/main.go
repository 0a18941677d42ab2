package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "privcom-image:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	root, out, name, version, revision, arch, static, sbom string
	created                                                time.Time
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("privcom-image", flag.ContinueOnError)
	f.StringVar(&o.root, "root", "../..", "the repository")
	f.StringVar(&o.out, "out", "", "tar file to write (required)")
	f.StringVar(&o.name, "name", "privcom", "name of the image; the version is its tag, unless the name has one")
	f.StringVar(&o.version, "version", "", "version to stamp (default: git describe)")
	f.StringVar(&o.arch, "arch", runtime.GOARCH, "architecture of the image: amd64 or arm64")
	f.StringVar(&o.static, "static", "", "make an image of this one static binary instead")
	f.StringVar(&o.sbom, "sbom", "", "also write the SPDX document to this file")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.out == "" || f.NArg() > 0 {
		return errors.New("--out is not set, or something stands after the flags; see --help")
	}
	var err error
	if o.created, err = sourceDate(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	if o.static == "" {
		if err := o.describe(ctx); err != nil {
			return err
		}
	} else if o.version == "" {
		o.version = "0"
	}
	dir, err := os.MkdirTemp("", "privcom-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := contents{created: o.created, arch: o.arch}
	if o.static == "" {
		if err := compile(ctx, o, dir); err != nil {
			return err
		}
		err = c.product(o, dir)
	} else {
		err = c.single(o)
	}
	if err != nil {
		return err
	}
	if o.sbom != "" {
		if err := os.WriteFile(o.sbom, c.sbom, 0o644); err != nil {
			return err
		}
	}
	return o.write(c, stdout)
}

// write assembles the image and puts it into its file, which appears whole or not at all.
func (o options) write(c contents, stdout io.Writer) error {
	img, err := c.image()
	if err != nil {
		return err
	}
	ref := o.name
	if !strings.Contains(ref[strings.LastIndex(ref, "/")+1:], ":") {
		ref += ":" + strings.NewReplacer("+", "-").Replace(o.version)
	}
	tag, err := name.NewTag(ref, name.WithDefaultRegistry(""))
	if err != nil {
		return err
	}
	part := o.out + ".part"
	if err := tarball.WriteToFile(part, tag, img); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, o.out); err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	info, err := os.Stat(o.out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, linux/%s, %.1f MB, %s\n", o.out, tag, o.arch, float64(info.Size())/1e6, digest)
	return err
}

// sourceDate is the time that everything in the image carries: 1970 unless the usual
// variable for reproducible builds says otherwise.
func sourceDate(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	s, err := strconv.ParseInt(text, 10, 64)
	if err != nil || s < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, must be seconds since 1970", text)
	}
	return time.Unix(s, 0).UTC(), nil
}

// describe asks git for what is not given. Outside of a clone the version must be given.
func (o *options) describe(ctx context.Context) error {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", o.root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	o.revision, _ = git("rev-parse", "HEAD")
	if o.version != "" {
		return nil
	}
	v, err := git("describe", "--tags", "--always", "--dirty")
	if err != nil {
		return fmt.Errorf("no --version, and git describe fails in %s: %w", o.root, err)
	}
	o.version = v
	return nil
}

// binaries are the commands of the image.
var binaries = []string{"coordinator", "privcom", "shard"}

// compile builds the static binaries into a folder. No path, time or state of the clone
// gets into them.
func compile(ctx context.Context, o options, dir string) error {
	for _, b := range binaries {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
			"-ldflags", "-s -w -buildid= -X github.com/privcom/privcom/internal/cli.Version="+o.version,
			"-o", filepath.Join(dir, b), "./cmd/"+b)
		cmd.Dir, cmd.Stderr = o.root, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+o.arch, "GOFLAGS=", "GOWORK=off")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s: %w", b, err)
		}
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/export"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{Use: "verify DIR", Short: "Check a release folder, or an ingested graph folder, byte by byte", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			b, err := storage.Open(cmd.Context(), dirs[0])
			if err != nil {
				return usage(err)
			}
			defer b.Close()
			if ok, err := b.Exists(cmd.Context(), "manifest.json"); err != nil {
				return err
			} else if ok {
				return a.verifyGraph(cmd.Context(), b)
			}
			return a.verifyRelease(cmd.Context(), b)
		}}
}

func (a *app) verifyGraph(ctx context.Context, b *storage.Bucket) error {
	g, err := partition.OpenGraph(ctx, b)
	if err == nil {
		err = g.Verify(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	return a.print(map[string]any{"graph": b.URL(), "ok": true}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: graph folder intact (inside the boundary: do not publish)\n", b.URL())
		return err
	})
}

func (a *app) verifyRelease(ctx context.Context, b *storage.Bucket) error {
	doc, checks, err := release.Verify(ctx, b)
	if err != nil {
		return err
	}
	ok := true
	for _, c := range checks {
		ok = ok && c.OK
	}
	err = a.print(map[string]any{"release": b.URL(), "ok": ok, "guarantee": doc.Guarantee.Sentence, "checks": checks}, func(w io.Writer) error {
		for _, c := range checks {
			mark := "ok    "
			if !c.OK {
				mark = "FAILED"
			}
			fmt.Fprintf(w, "%s  %s: %s\n", mark, c.Name, c.Note)
		}
		if ok {
			fmt.Fprintf(w, "\n%s\n", wrap(doc.Guarantee.Sentence, 100))
		}
		return nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s is not the release that its release.json describes", errCheckFailed, b.URL())
	}
	return err
}

func newExport(a *app) *cobra.Command {
	var out, format string
	var force bool
	c := &cobra.Command{Use: "export DIR --out FILE", Short: "Write a release's graph as a file that other programs read",
		Long: "export writes the synthetic graph of a release folder. The format follows the file's name: .txt .tsv .edges .csv .mtx\n.gml .graphml .parquet, with .gz or .zst.",
		Args: args(cobra.ExactArgs(1)), RunE: func(cmd *cobra.Command, dirs []string) error {
			if out == "" {
				return usagef("--out is not set: name the file to write")
			}
			if err := refuseExisting(out, force); err != nil {
				return err
			}
			if err := refuseInside(dirs[0], out); err != nil {
				return err
			}
			return a.export(cmd.Context(), dirs[0], out, format)
		}}
	c.Flags().StringVar(&out, "out", "", "file to write")
	c.Flags().StringVar(&format, "format", "", "snap, csv, graphml, gml, mtx or parquet, instead of by the file's name")
	c.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return c
}

func (a *app) export(ctx context.Context, dir, out, format string) (err error) {
	b, err := storage.Open(ctx, dir)
	if err != nil {
		return usage(err)
	}
	defer b.Close()
	doc, err := release.Open(ctx, b)
	if err != nil {
		return err
	}
	c, err := release.Read(ctx, b, doc)
	if err != nil {
		return err
	}
	if format == "" {
		f, _, err := export.FormatOf(out)
		if err != nil {
			return usage(err)
		}
		format = string(f)
	}
	w, err := export.NewWriter(out, export.Options{Format: export.Format(format), N: int64(len(c.IDs)),
		IDs: func(i int64) string { return c.IDs[i] }, StringIDs: doc.Graph.IDType == "string"})
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	for i := range c.Source {
		if err := w.Write(int64(c.Source[i]), int64(c.Target[i])); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	missing := 0
	if f := export.Format(format); f == export.Snap || f == export.CSV || f == export.Parquet {
		missing = isolated(len(c.IDs), c.Source, c.Target)
	}
	return a.print(map[string]any{"out": out, "vertices": len(c.IDs), "edges": len(c.Source), "vertices_left_out": missing}, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: %d vertices, %d edges\n", out, len(c.IDs), len(c.Source))
		if missing > 0 {
			fmt.Fprintf(w, "%d of the vertices have no edge and are not in the file: this format lists edges only (gml, graphml and mtx list all vertices)\n", missing)
		}
		return nil
	})
}

// isolated counts the vertices without an edge.
func isolated[T ~int32 | ~int64](n int, source, target []T) int {
	seen, left := make([]bool, n), n
	for _, ends := range [][]T{source, target} {
		for _, v := range ends {
			if !seen[v] {
				seen[v] = true
				left--
			}
		}
	}
	return left
}

// refuseInside keeps a file out of the release folder, whose files are exactly
// those that its manifest names.
func refuseInside(dir, out string) error {
	if strings.Contains(dir, "://") {
		return nil
	}
	folder, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // what is wrong with it is said when it is opened
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return usage(err)
	}
	at, err := filepath.Abs(out)
	if err != nil {
		return usage(err)
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
		at = filepath.Join(parent, filepath.Base(at))
	}
	if at == folder || strings.HasPrefix(at, folder+string(filepath.Separator)) {
		return usagef("%s lies in the release folder, which would no longer be what its manifest says; nothing was written; choose another place", out)
	}
	return nil
}

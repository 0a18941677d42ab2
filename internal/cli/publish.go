package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// published is what publish reports.
type published struct {
	ID      string `json:"id"`
	From    string `json:"from"`
	URL     string `json:"url"`
	Epsilon string `json:"epsilon"`
	Edges   int64  `json:"edges"`
	Already bool   `json:"already"`
}

func newPublish(a *app) *cobra.Command {
	var to, report string
	c := &cobra.Command{Use: "publish DIR --to URL", Short: "Verify a release folder and copy it out of the boundary",
		Long: `publish verifies a release folder as "privcom verify" does and copies it to a public place, _SUCCESS last. A place that
holds the same release is left as it is; one that holds anything else is refused.`,
		Args: args(cobra.ExactArgs(1)), RunE: func(cmd *cobra.Command, dirs []string) error {
			ctx := cmd.Context()
			if to == "" {
				return usagef("--to is not set: name the public folder or bucket URL")
			}
			from, err := storage.Open(ctx, dirs[0])
			if err != nil {
				return usage(err)
			}
			defer from.Close()
			out, err := openLasting(ctx, "to", to)
			if err != nil {
				return err
			}
			defer out.Close()
			doc, checks, err := release.Verify(ctx, from)
			if err != nil {
				return err
			}
			for _, c := range checks {
				if !c.OK {
					return fmt.Errorf("%w: %s: %s; nothing was published; see `privcom verify %s`", errCheckFailed, c.Name, c.Note, dirs[0])
				}
			}
			already, err := release.Publish(ctx, from, out)
			if err != nil {
				return err
			}
			if report != "" {
				html, err := from.ReadAll(ctx, release.ReportKey)
				if err != nil {
					return err
				}
				if err := os.WriteFile(report, html, 0o644); err != nil {
					return input(err)
				}
			}
			p := published{ID: doc.ID, From: from.URL(), URL: out.URL(), Epsilon: doc.Guarantee.Epsilon.String(), Edges: int64(doc.Graph.Edges), Already: already}
			return a.print(p, func(w io.Writer) error {
				what := "published"
				if already {
					what = "published before, left as it is"
				}
				_, err := fmt.Fprintf(w, "release %s %s: %s (%d edges, epsilon %s)\n", p.ID, what, p.URL, p.Edges, p.Epsilon)
				return err
			})
		}}
	c.Flags().StringVar(&to, "to", "", "public folder or bucket URL")
	c.Flags().StringVar(&report, "report", "", "also copy the release's page for people to this file")
	return c
}

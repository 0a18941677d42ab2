package bench

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Row is a cell of the grid: what its runs gave on average, in the middle and at most.
type Row struct {
	Job                         // Seed is 0
	Runs     int                `json:"runs"`
	Failures int                `json:"failures"`
	Failure  string             `json:"failure,omitempty"` // of the first run that failed
	Mean     map[string]float64 `json:"mean"`
	StdDev   map[string]float64 `json:"std_dev"` // over the runs, n−1; 0 for one
	Median   map[string]float64 `json:"median"`
	Low      map[string]float64 `json:"low"`
	High     map[string]float64 `json:"high"`
	Seconds  float64            `json:"seconds"` // mean time to make a graph
}

// Summarise takes means over the seeds, in the order in which cells first appear.
func Summarise(results []Result) []Row {
	var rows []Row
	index := map[Job]int{}
	values := []map[string][]float64{}
	for _, r := range results {
		cell := r.Job
		cell.Seed = 0
		i, known := index[cell]
		if !known {
			i = len(rows)
			index[cell] = i
			rows = append(rows, Row{Job: cell, Mean: map[string]float64{}, StdDev: map[string]float64{},
				Median: map[string]float64{}, Low: map[string]float64{}, High: map[string]float64{}})
			values = append(values, map[string][]float64{})
		}
		rows[i].Runs++
		rows[i].Seconds += r.Seconds
		if r.Failure != "" {
			if rows[i].Failures++; rows[i].Failures == 1 {
				rows[i].Failure = r.Failure
			}
		}
		for name, x := range r.Values {
			values[i][name] = append(values[i][name], x)
		}
	}
	for i := range rows {
		rows[i].Seconds /= float64(rows[i].Runs)
		for name, list := range values[i] {
			rows[i].Mean[name], rows[i].StdDev[name] = meanOf(list)
			slices.Sort(list)
			rows[i].Median[name] = (list[(len(list)-1)/2] + list[len(list)/2]) / 2
			rows[i].Low[name], rows[i].High[name] = list[0], list[len(list)-1]
		}
	}
	return rows
}

func meanOf(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		deviation += (x - mean) * (x - mean)
	}
	if len(list) < 2 {
		return mean, 0
	}
	return mean, math.Sqrt(deviation / float64(len(list)-1))
}

// headings are short enough for a table of many columns; for the queries they are PGB's.
var headings = map[string]string{"ami": "AMI", "ari": "ARI", "nmi": "NMI", "avg_f1": "Avg-F1", "avg_f1_reversed": "reversed",
	"avg_f1_weighted": "Avg-F1", "avg_f1_reversed_weighted": "reversed", "modularity": "Q",
	"vertices": "V", "edges": "E", "triangles": "tri", "mean_degree": "deg", "degree_variance": "dvar", "degree_kl": "ddist",
	"diameter": "diam", "mean_distance": "path", "distance_kl": "pdist", "global_clustering": "GCC", "mean_clustering": "ACC",
	"assortativity": "ass", "centrality_mae": "EVC"}

// Table writes one line per cell, one block per experiment and graph.
func Table(w io.Writer, rows []Row, names []string) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	last := ""
	for _, r := range rows {
		if block := r.Experiment + ", " + r.Graph; block != last {
			if err := tw.Flush(); err != nil {
				return err
			}
			fmt.Fprintf(w, "\n%s\n", block)
			head := make([]string, len(names))
			for i, n := range names {
				if head[i] = n; headings[n] != "" {
					head[i] = headings[n]
				}
			}
			fmt.Fprintf(tw, "method\tunit\tε\t%s\truns\ts\t\n", strings.Join(head, "\t"))
			last = block
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t", r.Method, r.Unit, epsilon(r.Job))
		for _, n := range names {
			fmt.Fprintf(tw, "%s\t", figure(r.Mean, n))
		}
		fmt.Fprintf(tw, "%d\t%.2f\t", r.Runs, r.Seconds)
		if r.Failures > 0 {
			fmt.Fprintf(tw, "%d failed", r.Failures)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

func epsilon(j Job) string {
	if j.Epsilon == 0 {
		return ""
	}
	return strconv.FormatFloat(j.Epsilon, 'g', -1, 64)
}

func figure(values map[string]float64, name string) string {
	x, known := values[name]
	switch {
	case !known:
		return "-"
	case math.Abs(x) >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case math.Abs(x) < 0.0005:
		return "0.000" // without a minus
	default:
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
}

// Write makes table.txt, results.json and results.csv in the folder, and a drawing
// where one is given.
func Write(folder string, rows []Row, names []string, drawing []byte) error {
	write := func(name string, content func(io.Writer) error) error {
		path := filepath.Join(folder, name)
		f, err := os.Create(path + ".part")
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if err := errors.Join(content(f), f.Close()); err != nil {
			return fmt.Errorf("bench: %s: %w", path, err)
		}
		return os.Rename(path+".part", path)
	}
	err := errors.Join(
		write("table.txt", func(w io.Writer) error {
			fmt.Fprintln(w, Notice)
			return Table(w, rows, names)
		}),
		write("results.json", func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", " ")
			return enc.Encode(map[string]any{"notice": Notice, "rows": rows})
		}),
		write("results.csv", func(w io.Writer) error { return writeCSV(w, rows, names) }))
	if drawing != nil {
		err = errors.Join(err, write("figure.svg", func(w io.Writer) error { _, err := w.Write(drawing); return err }))
	}
	return err
}

func writeCSV(w io.Writer, rows []Row, names []string) error {
	c := csv.NewWriter(w)
	head := []string{"experiment", "graph", "method", "unit", "degree_bound", "epsilon", "delta", "runs", "failures", "seconds"}
	for _, n := range names {
		head = append(head, n, n+"_std_dev", n+"_median")
	}
	_ = c.Write(head) // Error tells at the end
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, r := range rows {
		line := []string{r.Experiment, r.Graph, r.Method, r.Unit, strconv.FormatInt(r.DegreeBound, 10), number(r.Epsilon), number(r.Delta), strconv.Itoa(r.Runs),
			strconv.Itoa(r.Failures), number(r.Seconds)}
		for _, n := range names {
			if _, known := r.Mean[n]; known {
				line = append(line, number(r.Mean[n]), number(r.StdDev[n]), number(r.Median[n]))
			} else {
				line = append(line, "", "", "")
			}
		}
		_ = c.Write(line)
	}
	c.Flush()
	return c.Error()
}

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/privcom/privcom/evaluate/community"
)

// Notice stands in every file.
const Notice = "computed from the original graphs: publish only if those are public"

// runsFile collects results as they come.
const runsFile = "runs.jsonl"

// Job is one run of one method.
type Job struct {
	Experiment string  `json:"experiment"`
	Graph      string  `json:"graph"`
	Method     string  `json:"method"`
	Unit       string  `json:"unit"`
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Level      int     `json:"level"` // place on the figure's axis, from 1
	Seed       uint64  `json:"seed"`

	DegreeBound int64 `json:"degree_bound,omitempty"` // D of a node-private release; 0: n−1
}

// Result is what a job gave: figures by name, or why it failed.
type Result struct {
	Job
	Values  map[string]float64 `json:"values,omitempty"`
	Seconds float64            `json:"seconds"` // of making the graph
	Failure string             `json:"failure,omitempty"`
}

// Options are an experiment.
type Options struct {
	Jobs    []Job
	Graphs  map[string]*community.Graph
	Make    func(context.Context, Job, *community.Graph) (*community.Graph, error)
	Measure func(context.Context, Job, *community.Graph, *community.Graph) (map[string]float64, error)
	Out     string // folder for runs.jsonl, made if it is not there
	// Progress, where not nil, is told the job that begins, and how many of total are
	// done; jobs that an earlier call did are not counted.
	Progress func(job Job, done, total int64)
}

// Run does the jobs that runs.jsonl does not have yet, and returns the results of all, in
// the order of the jobs.
func Run(ctx context.Context, o Options) ([]Result, error) {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	path := filepath.Join(o.Out, runsFile)
	have, err := read(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer file.Close()
	var todo []Job
	for _, j := range o.Jobs {
		if _, done := have[j]; !done {
			todo = append(todo, j)
		}
	}
	for i, j := range todo {
		if o.Progress != nil {
			o.Progress(j, int64(i), int64(len(todo)))
		}
		r, err := one(ctx, o, j)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("bench: %s on %s: %w", j.Method, j.Graph, err)
		}
		if _, err := file.Write(append(line, '\n')); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		have[j] = r
	}
	results := make([]Result, len(o.Jobs))
	for i, j := range o.Jobs {
		results[i] = have[j]
	}
	return results, nil
}

// one does a job. Only a cancelled context, or a graph that is not given, is an error.
func one(ctx context.Context, o Options, j Job) (Result, error) {
	g := o.Graphs[j.Graph]
	if g == nil {
		return Result{}, fmt.Errorf("bench: a job wants the graph %q, which is not given", j.Graph)
	}
	r := Result{Job: j}
	start := time.Now()
	made, err := o.Make(ctx, j, g)
	r.Seconds = time.Since(start).Seconds()
	if err == nil {
		r.Values, err = o.Measure(ctx, j, g, made)
	}
	if ctx.Err() != nil {
		return Result{}, errors.Join(ctx.Err(), err)
	}
	if err != nil {
		r.Values, r.Failure = nil, err.Error()
	}
	return r, nil
}

// read takes the results of an earlier call. A last line without its end was being
// written when that call was stopped, and is cut off.
func read(path string) (map[Job]Result, error) {
	have := map[Job]Result{}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return have, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	whole := int64(0)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				return have, os.Truncate(path, whole)
			}
			return have, nil
		}
		whole += int64(len(line))
		var r Result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("bench: %s:%d is not a result: %w; remove the file to begin again", path, number, err)
		}
		have[r.Job] = r
	}
}

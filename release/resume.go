package release

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

// runKey is the object of a work folder that says whose it is.
const runKey = "run.json"

// runVersion is the version of run.json and of the records (docs/format/run.md).
const runVersion = 1

// runFile is run.json: what a run was started with, and what it drew for itself before it
// did anything, so that whoever takes it up again does the same.
type runFile struct {
	Format      string    `json:"format"` // "privcom-run"
	Version     int       `json:"version"`
	ID          string    `json:"id"`
	Created     time.Time `json:"created"`     // the release's date
	Reservation string    `json:"reservation"` // id in the ledger, chosen before it is reserved
	Claim       string    `json:"claim"`       // content of _STARTED
	Settings    settings  `json:"settings"`
}

// settings are everything that decides the bytes of a release, besides the noise.
type settings struct {
	Params   Params `json:"parameters"`
	Initial  string `json:"initial_sha256,omitempty"` // of V₀, where it was given
	Graph    string `json:"graph"`                    // hash of the manifest
	Dataset  string `json:"dataset"`
	Ledger   string `json:"ledger"`
	Out      string `json:"out"`
	Work     string `json:"work"`
	Tool     string `json:"tool"`
	Platform string `json:"platform"` // floats differ in the last bit between kinds of processors
}

func (o *Options) settings() settings {
	s := settings{Params: o.Params, Graph: o.Graph.Manifest().Hash, Dataset: o.Ledger.Dataset, Ledger: o.Ledger.URL(),
		Out: o.Out.URL(), Work: o.Work.URL(), Tool: o.Tool, Platform: runtime.GOARCH}
	s.Params.Dataset = "" // stands beside
	if o.Initial != nil {
		h := sha256.New()
		_ = binary.Write(h, binary.LittleEndian, o.Initial) // a hash takes every byte
		s.Initial = hex.EncodeToString(h.Sum(nil))
		s.Params.Initial = filepath.Base(s.Params.Initial)
	}
	return s
}

// Change is a setting that a run was not started with.
type Change struct {
	Setting string `json:"setting"`
	Was     string `json:"was"`
	Now     string `json:"now"`
}

// ChangedError says that a run cannot be taken up because settings differ from those that
// it was started with. Nothing was spent or written.
type ChangedError struct {
	Run     string
	Changes []Change
}

func (e *ChangedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s was started with other settings; nothing was spent or written:", e.Run)
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "\n  %s: was %s, is now %s", c.Setting, orEmpty(c.Was), orEmpty(c.Now))
	}
	b.WriteString("\ntake it up with the settings that it was started with, or start a run of another name")
	return b.String()
}

func orEmpty(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// changes lists how now differs from s, in the order of the settings.
func (s settings) changes(now settings) []Change {
	return append(differences(s.Params, now.Params), differences(s, now)...)
}

// differences compares the fields of two structs of one type; structs within are left out.
func differences[T any](was, now T) []Change {
	var out []Change
	a, b := reflect.ValueOf(was), reflect.ValueOf(now)
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if f.Type.Kind() == reflect.Struct || a.Field(i).Interface() == b.Field(i).Interface() {
			continue
		}
		name := f.Tag.Get("yaml") // the flag's name
		if name == "" {
			name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
			name = strings.ReplaceAll(name, "_", " ")
		}
		out = append(out, Change{name, fmt.Sprint(a.Field(i).Interface()), fmt.Sprint(b.Field(i).Interface())})
	}
	return out
}

func newToken() string { return rand.Text() }

// newRunFile draws what a run needs of its own.
func (o *Options) newRunFile() *runFile {
	return &runFile{Format: "privcom-run", Version: runVersion, ID: o.ID, Created: time.Now().UTC().Truncate(time.Second),
		Reservation: privacy.NewReservationID(), Claim: o.ID + " " + newToken() + "\n", Settings: o.settings()}
}

func (f *runFile) encode() ([]byte, error) {
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

// readRunFile reads run.json; nil where there is none.
func readRunFile(ctx context.Context, work *storage.Bucket) (*runFile, error) {
	data, err := work.ReadAll(ctx, runKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeRunFile(data)
}

func decodeRunFile(data []byte) (*runFile, error) {
	f := &runFile{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, &storage.CorruptError{Key: runKey, Detail: err.Error()}
	}
	if f.Format != "privcom-run" || f.Version != runVersion {
		return nil, &storage.CorruptError{Key: runKey, Detail: fmt.Sprintf("format %q version %d, this tool reads privcom-run version %d: finish the run with the program that began it", f.Format, f.Version, runVersion)}
	}
	return f, nil
}

// Job is a release that was taken up: its settings were checked, and no other coordinator
// that lives works on it.
type Job struct {
	o       Options
	plan    *privacy.Plan
	file    *runFile
	done    *Document
	taken   bool // the run had begun before
	lease   *lease
	ctx     context.Context
	stop    context.CancelCauseFunc
	started bool
}

// Begin takes up the run o.ID, which is new, or was interrupted (where o.Resume says that
// its work folder outlives the process), or is finished. Nothing is spent by it.
//
// Errors: a *ChangedError for other settings than the run was started with, a *LeaseError
// where another coordinator works on it, ErrOccupied, faults of the parameters.
func Begin(ctx context.Context, o Options) (*Job, error) {
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	plan, err := o.Params.Plan(Describe(o.Graph))
	if err != nil {
		return nil, err
	}
	j := &Job{o: o, plan: plan}
	j.ctx, j.stop = context.WithCancelCause(ctx)
	if !o.Resume {
		j.file = o.newRunFile()
		return j, j.checkFresh(ctx)
	}
	if err := j.takeUp(ctx); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// checkFresh refuses folders that hold something.
func (j *Job) checkFresh(ctx context.Context) error {
	if err := CheckEmpty(ctx, j.o.Out); err != nil {
		return err
	}
	keys, err := j.o.Work.List(ctx, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k == runKey || strings.HasPrefix(k, "steps/") {
			return fmt.Errorf("%w: the work folder %s holds the steps of another run (%s); nothing was spent; choose another folder, or remove it",
				ErrOccupied, j.o.Work.URL(), k)
		}
	}
	return nil
}

// takeUp is Begin of a run that can be resumed.
func (j *Job) takeUp(ctx context.Context) error {
	have, err := j.known(ctx)
	if err != nil || j.done != nil {
		return err
	}
	if have == nil {
		if err := CheckEmpty(ctx, j.o.Out); err != nil {
			return err
		}
	}
	l, err := acquire(ctx, j.o.Work.Sub("lease"), j.o.ID, j.o.Lease, func(holder string) {
		j.o.Progress(PhaseLease, 0, 1)
	})
	if err != nil {
		return err
	}
	j.lease = l
	go l.keep(context.WithoutCancel(ctx), func(err error) { j.stop(err) })
	if have, err = j.known(ctx); err != nil || j.done != nil { // another may have been here
		return err
	}
	if have != nil && len(have.Settings.changes(j.o.settings())) == 0 {
		j.file, j.taken = have, true
		return nil
	}
	// New, or begun with other settings and given up before it spent anything.
	j.file = j.o.newRunFile()
	data, err := j.file.encode()
	if err != nil {
		return err
	}
	if have != nil {
		return j.o.Work.Put(ctx, runKey, data)
	}
	stands, err := settle(ctx, j.o.Work, runKey, data)
	if err != nil {
		return err
	}
	if j.file, err = decodeRunFile(stands); err != nil {
		return err
	}
	if changes := j.file.Settings.changes(j.o.settings()); len(changes) > 0 {
		return &ChangedError{j.o.ID, changes}
	}
	return nil
}

// known reads what there is of the run: its run.json, and its release, if that is finished.
// A run that spent something under other settings is a *ChangedError.
func (j *Job) known(ctx context.Context) (*runFile, error) {
	have, err := readRunFile(ctx, j.o.Work)
	if err != nil {
		return nil, err
	}
	doc, err := Open(ctx, j.o.Out)
	if errors.Is(err, ErrNotRelease) {
		doc, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if doc != nil && doc.ID != j.o.ID {
		doc = nil
	}
	now := j.o.settings()
	if have == nil {
		if doc == nil {
			return nil, nil
		}
		// The work folder is gone; the release itself says what it was made with.
		was := now
		was.Params, was.Dataset = doc.Parameters, doc.Dataset
		was.Params.Dataset = ""
		if changes := was.changes(now); len(changes) > 0 {
			return nil, &ChangedError{j.o.ID, changes}
		}
		j.done = doc
		return nil, nil
	}
	if have.ID != j.o.ID {
		return nil, fmt.Errorf("%w: the work folder %s belongs to run %s; nothing was spent; choose another folder", ErrOccupied, j.o.Work.URL(), have.ID)
	}
	if doc != nil && doc.Ledger.Entry == have.Reservation {
		// To look at what is finished, any program will do.
		now.Tool, now.Platform, now.Work = have.Settings.Tool, have.Settings.Platform, have.Settings.Work
	}
	changes := have.Settings.changes(now)
	if len(changes) > 0 {
		begun, err := j.begun(ctx, have)
		if err != nil || begun {
			return nil, errors.Join(err, &ChangedError{j.o.ID, changes})
		}
		return have, nil
	}
	if doc != nil && doc.Ledger.Entry == have.Reservation {
		j.done = doc
	}
	return have, nil
}

// begun reports whether a run has spent something, as far as this ledger knows.
func (j *Job) begun(ctx context.Context, have *runFile) (bool, error) {
	if have.Settings.Ledger != j.o.Ledger.URL() || have.Settings.Dataset != j.o.Ledger.Dataset {
		return true, nil // where it would stand is not looked at
	}
	s, err := j.o.Ledger.State(ctx)
	if err != nil {
		return false, ledgerError(err)
	}
	_, ok := s.Find(have.Reservation)
	return ok, nil
}

// Finished is the release of a run that is finished already, else nil.
func (j *Job) Finished() *Document { return j.done }

// Reserved asks the ledger whether it holds the run's reservation: a run that was interrupted
// early has chosen its id and spent nothing.
func (j *Job) Reserved(ctx context.Context) (bool, error) {
	if j.file == nil {
		return j.done != nil, nil
	}
	return j.begun(ctx, j.file)
}

// Recorded is how many steps of the run are recorded already, and the id of the ledger entry that
// they were paid from, which need not stand yet (Reserved); 0 and "" for a new run.
func (j *Job) Recorded(ctx context.Context) (int, string, error) {
	if !j.taken {
		return 0, "", nil
	}
	t, err := openTranscript(ctx, j.o.Work.Sub("steps/"+j.file.Reservation))
	if err != nil {
		return 0, "", err
	}
	return t.length, j.file.Reservation, nil
}

// Reservation is the id that the run's ledger entry has, or will have; "" of a run that is
// finished already.
func (j *Job) Reservation() string {
	if j.file == nil {
		return ""
	}
	return j.file.Reservation
}

// Context ends with the job's, and with a *LeaseError when another coordinator has taken
// the run over.
func (j *Job) Context() context.Context { return j.ctx }

// Term is the number of the lease's term under which the job runs; 0 without a lease.
func (j *Job) Term() int {
	if j.lease == nil {
		return 0
	}
	return j.lease.note.Term
}

// Close gives the run free for other coordinators.
func (j *Job) Close() error {
	if j.lease != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), 5*time.Second)
		defer cancel()
		j.lease.release(ctx)
	}
	j.stop(nil)
	return nil
}

// Tidy removes what only an interrupted run needs: the records and the scratch.
func (j *Job) Tidy(ctx context.Context) error {
	keys, err := j.o.Work.List(ctx, "")
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, "steps/") && !strings.HasPrefix(k, "scratch/") })
	for _, k := range keys {
		if err := j.o.Work.Delete(ctx, k); err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return nil
}

// giveUp undoes what Begin and a run that has spent nothing have written.
func (j *Job) giveUp(ctx context.Context) error {
	if j.lease != nil && !j.lease.held(ctx) {
		return nil // it is another's now
	}
	err := clean(ctx, j.o.Out)
	if j.o.Resume && err == nil {
		if err = j.o.Work.Delete(ctx, runKey); errors.Is(err, storage.ErrNotExist) {
			err = nil
		}
	}
	return err
}

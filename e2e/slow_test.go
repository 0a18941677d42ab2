//go:build slow

package e2e

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestThirtyPercentOfMessagesLost(t *testing.T) {
	t.Parallel()
	badMessages(t, 0.3)
}

func TestNATSGoesAwayForTenSeconds(t *testing.T) {
	t.Parallel()
	natsGoesAway(t, 10*time.Second)
}

// objects counts what the run has written anywhere: ledger, records, lease terms, release.
func (s *site) objects() int {
	n := 0
	for _, dir := range []string{"ledger", "work", "out"} {
		filepath.WalkDir(filepath.Join(s.dir, dir), func(name string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.Contains(name, "beat-") && !strings.Contains(name, ".privcom-tmp-") {
				n++
			}
			return nil
		})
	}
	return n
}

// The coordinator is killed as soon as it has written one more object than the one before,
// until the run is finished.
func TestCoordinatorKilledAfterEveryWrite(t *testing.T) {
	t.Parallel()
	s := newSite(t, 120, startNATS(t))
	env := s.faultEnv("PRIVCOM_STEPS=4")
	s.startShards(t)
	kills := 0
	for ; ; kills++ {
		c := start(t, env, "coordinator")
		began := s.objects()
		for ended := false; !ended && s.objects() <= began+1; { // a term of the lease, and one more
			select {
			case <-c.done:
				ended = true
			case <-time.After(time.Millisecond):
			}
		}
		c.cmd.Process.Kill()
		<-c.done
		if c.cmd.ProcessState.ExitCode() == 0 {
			break
		}
		if l := s.showLedger(t); len(l.Releases) > 1 {
			t.Fatalf("%d reservations after %d kills", len(l.Releases), kills+1)
		}
	}
	t.Logf("%d kills", kills)
	if kills < 10 {
		t.Errorf("only %d kills", kills)
	}
	s.completes(t, env)
}

// soak knobs, for a run that reproduces another or is shorter.
func knob(t *testing.T, name string, value uint64) uint64 {
	if text := os.Getenv(name); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	return value
}

// TestSoak makes 200 releases of a small graph while a plan of faults, drawn from a seed
// that is printed, strikes: coordinators and shards are killed, stopped and started, NATS
// goes away, messages are lost. Every release ends with the bytes of an undisturbed run, or
// the failure is one that the exit codes document and the next try goes on. The same seed
// gives the same plan of faults (PRIVCOM_SOAK_SEED, PRIVCOM_SOAK_RUNS); where in a run a
// fault falls is up to the machine.
func TestSoak(t *testing.T) {
	var fresh [8]byte
	binary.LittleEndian.PutUint64(fresh[:], uint64(time.Now().UnixNano()))
	seed := knob(t, "PRIVCOM_SOAK_SEED", binary.LittleEndian.Uint64(fresh[:]))
	runs := int(knob(t, "PRIVCOM_SOAK_RUNS", 200))
	fmt.Printf("soak: PRIVCOM_SOAK_SEED=%d PRIVCOM_SOAK_RUNS=%d\n", seed, runs)
	var total tally
	t.Run("releases", func(t *testing.T) {
		for i := range runs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				soakOne(t, rand.New(rand.NewPCG(seed, uint64(i))), &total)
			})
		}
	})
	fmt.Printf("soak: %d releases, %d coordinators started, faults: %v\n", total.releases.Load(), total.tries.Load(), total.list())
	if int(total.releases.Load()) != runs {
		t.Errorf("%d of %d releases", total.releases.Load(), runs)
	}
}

type tally struct {
	releases, tries atomic.Int64
	faults          sync.Map
}

func (y *tally) add(fault string) {
	n, _ := y.faults.LoadOrStore(fault, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

func (y *tally) list() map[string]int64 {
	all := map[string]int64{}
	y.faults.Range(func(k, n any) bool {
		all[k.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return all
}

// soakOne makes one release in spite of up to four faults.
func soakOne(t *testing.T, r *rand.Rand, total *tally) {
	nats, server := startServer(t)
	url := nats
	if r.IntN(4) == 0 {
		url = startProxy(t, nats, &proxy{lose: 0.1 * r.Float64(), repeat: 0.1, delay: 0.1}, r.Uint64())
		total.add("bad messages")
	}
	s := newSite(t, 60+r.IntN(60), url)
	env := s.faultEnv(fmt.Sprintf("PRIVCOM_STEPS=%d", 3+r.IntN(6)), "PRIVCOM_JOIN=2s", "PRIVCOM_NATS_WAIT=10s",
		[]string{"PRIVCOM_UNIT=edge", "PRIVCOM_UNIT=node"}[r.IntN(2)])
	shard := func(i int) *process {
		return start(t, append(s.env, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), "PRIVCOM_NATS_WAIT=10s"), "shard")
	}
	shards := []*process{shard(0), shard(1), shard(2)}
	faults := 1 + r.IntN(4)
	for try := 0; try < 20; try++ {
		total.tries.Add(1)
		c := start(t, env, "coordinator")
		var other *process
		if faults > 0 {
			faults--
			pause := time.Duration(r.IntN(1200)) * time.Millisecond
			select {
			case <-time.After(pause):
			case <-c.done:
			}
			switch r.IntN(7) {
			case 0:
				total.add("coordinator killed")
				c.cmd.Process.Kill()
			case 1:
				total.add("coordinator stopped")
				c.cmd.Process.Signal(syscall.SIGTERM)
			case 2:
				total.add("shard killed")
				shards[r.IntN(3)].cmd.Process.Kill()
			case 3:
				total.add("second coordinator")
				other = start(t, env, "coordinator")
			case 4:
				total.add("coordinator asleep")
				c.cmd.Process.Signal(syscall.SIGSTOP)
				other = start(t, env, "coordinator")
				time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
				c.cmd.Process.Signal(syscall.SIGCONT)
			case 5:
				total.add("NATS away")
				server.cmd.Process.Kill()
				<-server.done
				time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
				server = start(t, nil, "nats-server", "-a", "127.0.0.1", "-p", nats[strings.LastIndex(nats, ":")+1:])
			case 6:
				total.add("twin of a shard")
				shard(r.IntN(3))
			}
		}
		done := false
		for _, p := range []*process{c, other} {
			if p == nil {
				continue
			}
			select {
			case <-p.done:
			case <-time.After(2 * patience):
				t.Fatalf("a coordinator hangs:\n%s", p.stderr.String())
			}
			switch code := p.cmd.ProcessState.ExitCode(); code {
			case 0:
				done = true
			case -1, 6, 143: // killed, or a documented refusal that a later try may heal
			default:
				t.Fatalf("a coordinator ended with %d:\n%s", code, p.stderr.String())
			}
		}
		if l := s.showLedger(t); len(l.Releases) > 1 {
			t.Fatalf("ledger: %+v", l)
		}
		if done {
			for _, p := range shards {
				p.cmd.Process.Signal(syscall.SIGTERM)
			}
			s.completes(t, env)
			if n := total.releases.Add(1); n%10 == 0 {
				fmt.Printf("soak: %d releases\n", n)
			}
			return
		}
		for i, p := range shards { // as a job does with pods that have ended
			select {
			case <-p.done:
				shards[i] = shard(i)
			default:
			}
		}
	}
	t.Fatal("twenty tries did not finish the run")
}

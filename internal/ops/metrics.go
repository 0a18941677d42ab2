package ops

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Role is which of the two cluster processes this is.
type Role string

// The two roles.
const (
	RoleCoordinator Role = "coordinator"
	RoleShard       Role = "shard"
)

// Snapshot is the state of a process at one moment. Fields that a role does not have stay
// zero.
type Snapshot struct {
	Connected bool      // to NATS
	Alive     time.Time // last turn of the main loop; zero before it runs
	Waiting   []string  // what is missing before the process is ready; empty: ready

	Reconnects, SlowConsumers, NATSErrors, Disconnects int64

	// coordinator
	Phase                             string  // one of Phases
	StepsDone, StepsPlanned           int64   // private Oja steps
	Operations                        int64   // multiplications and item lists finished
	Covered                           float64 // share of the rows (or items) in hand that is there, 0 to 1
	Workers, ShardsPlanned            int64
	BytesSent, BytesReceived          int64
	Repaired, AskedAgain, Repeated    int64
	Rescued, Lost, Rejected, Departed int64
	Progressed                        time.Time // last time that rows, items or a phase moved on

	// shard
	Joined       bool  // a coordinator leads this worker
	Operation    int64 // number of the operation in hand
	ShardsLoaded int64
}

// Metric describes one line of /metrics.
type Metric struct {
	Name, Help string
	Counter    bool // else a gauge
	Roles      []Role
	value      func(s Snapshot) float64
}

var (
	both        = []Role{RoleCoordinator, RoleShard}
	coordinator = []Role{RoleCoordinator}
	shard       = []Role{RoleShard}
)

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1e3
}

// table is every metric with one value. docs/metrics.md lists the same.
var table = []Metric{
	{"privcom_ready", "1 while /readyz answers 200.", false, both, func(s Snapshot) float64 { return truth(len(s.Waiting) == 0) }},
	{"privcom_nats_connected", "1 while the connection to NATS stands.", false, both, func(s Snapshot) float64 { return truth(s.Connected) }},
	{"privcom_nats_disconnects_total", "Times the connection to NATS broke.", true, both, func(s Snapshot) float64 { return float64(s.Disconnects) }},
	{"privcom_nats_reconnects_total", "Times the connection to NATS came back.", true, both, func(s Snapshot) float64 { return float64(s.Reconnects) }},
	{"privcom_nats_slow_consumer_total", "Times this process was too slow for a subscription and messages were dropped and asked for again.", true, both, func(s Snapshot) float64 { return float64(s.SlowConsumers) }},
	{"privcom_nats_errors_total", "Other errors of the connection, such as a permission refused.", true, both, func(s Snapshot) float64 { return float64(s.NATSErrors) }},
	{"privcom_loop_timestamp_seconds", "Unix time of the last turn of the main loop; 0 before it runs.", false, both, func(s Snapshot) float64 { return seconds(s.Alive) }},

	{"privcom_oja_steps_planned", "Private Oja steps of this release, T.", false, coordinator, func(s Snapshot) float64 { return float64(s.StepsPlanned) }},
	{"privcom_oja_steps_done", "Private Oja steps finished.", false, coordinator, func(s Snapshot) float64 { return float64(s.StepsDone) }},
	{"privcom_operations_total", "Distributed multiplications and item lists finished.", true, coordinator, func(s Snapshot) float64 { return float64(s.Operations) }},
	{"privcom_operation_covered_ratio", "Share of the rows or items of the operation in hand that has come back, 0 to 1.", false, coordinator, func(s Snapshot) float64 { return s.Covered }},
	{"privcom_progress_timestamp_seconds", "Unix time at which rows, items or the phase last moved on.", false, coordinator, func(s Snapshot) float64 { return seconds(s.Progressed) }},
	{"privcom_shards_planned", "Row shards of the graph folder.", false, coordinator, func(s Snapshot) float64 { return float64(s.ShardsPlanned) }},
	{"privcom_workers", "Shard workers that answer.", false, coordinator, func(s Snapshot) float64 { return float64(s.Workers) }},
	{"privcom_workers_left_total", "Shard workers that died, fell silent or said goodbye.", true, coordinator, func(s Snapshot) float64 { return float64(s.Departed) }},
	{"privcom_sent_bytes_total", "Bytes published to NATS.", true, coordinator, func(s Snapshot) float64 { return float64(s.BytesSent) }},
	{"privcom_received_bytes_total", "Bytes received from workers.", true, coordinator, func(s Snapshot) float64 { return float64(s.BytesReceived) }},
	{"privcom_repaired_messages_total", "Messages of V that were sent again to one worker.", true, coordinator, func(s Snapshot) float64 { return float64(s.Repaired) }},
	{"privcom_asked_again_total", "Row blocks and items that were asked for again.", true, coordinator, func(s Snapshot) float64 { return float64(s.AskedAgain) }},
	{"privcom_repeated_results_total", "Results that came again, equal to the first.", true, coordinator, func(s Snapshot) float64 { return float64(s.Repeated) }},
	{"privcom_rescued_units_total", "Row blocks and items taken from a slow worker.", true, coordinator, func(s Snapshot) float64 { return float64(s.Rescued) }},
	{"privcom_lost_messages_total", "Messages that a broken connection swallowed.", true, coordinator, func(s Snapshot) float64 { return float64(s.Lost) }},
	{"privcom_rejected_messages_total", "Messages that failed a check.", true, coordinator, func(s Snapshot) float64 { return float64(s.Rejected) }},

	{"privcom_worker_joined", "1 while a coordinator leads this worker.", false, shard, func(s Snapshot) float64 { return truth(s.Joined) }},
	{"privcom_worker_operation", "Number of the operation in hand.", false, shard, func(s Snapshot) float64 { return float64(s.Operation) }},
	{"privcom_worker_shards_loaded", "Row shards in this worker's memory.", false, shard, func(s Snapshot) float64 { return float64(s.ShardsLoaded) }},
}

// Phases are the values of the label of privcom_phase.
var Phases = []string{"starting", "waiting for the lease", "waiting for shards", "reserving budget", "private Oja steps", "fitting", "placing vertices",
	"sampling edges", "writing the release", "done", "other"}

// Metrics lists what a role's /metrics page shows, beside the metrics of the Go runtime and
// the process that the coordinator's has.
func Metrics(role Role) []Metric {
	all := []Metric{{Name: "privcom_build_info", Help: "1, with the version as a label.", Roles: both}}
	if role == RoleCoordinator {
		all = append(all, Metric{Name: "privcom_phase", Help: "1 for the phase that the release is in, 0 for the others.", Roles: coordinator})
	}
	for _, m := range table {
		if slices.Contains(m.Roles, role) {
			all = append(all, m)
		}
	}
	return all
}

// collector turns a snapshot into metrics, one snapshot for each scrape.
type collector struct {
	role    Role
	version string
	state   func() Snapshot
	build   *prometheus.Desc
	phase   *prometheus.Desc
	descs   []*prometheus.Desc // of table
}

// newRegistry makes a registry of its own: nothing that a library registers elsewhere gets
// onto the page.
func newRegistry(role Role, version string, state func() Snapshot) *prometheus.Registry {
	c := &collector{role: role, version: version, state: state,
		build: prometheus.NewDesc("privcom_build_info", "1, with the version as a label.", []string{"version"}, nil),
		phase: prometheus.NewDesc("privcom_phase", "1 for the phase that the release is in, 0 for the others.", []string{"phase"}, nil)}
	for _, m := range table {
		c.descs = append(c.descs, prometheus.NewDesc(m.Name, m.Help, nil, nil))
	}
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	if role == RoleCoordinator {
		r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	return r
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.build
	if c.role == RoleCoordinator {
		ch <- c.phase
	}
	for i, m := range table {
		if slices.Contains(m.Roles, c.role) {
			ch <- c.descs[i]
		}
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := c.state()
	ch <- prometheus.MustNewConstMetric(c.build, prometheus.GaugeValue, 1, c.version)
	if c.role == RoleCoordinator {
		now := s.Phase
		if !slices.Contains(Phases, now) {
			now = "other"
		}
		for _, p := range Phases {
			ch <- prometheus.MustNewConstMetric(c.phase, prometheus.GaugeValue, truth(p == now), p)
		}
	}
	for i, m := range table {
		if !slices.Contains(m.Roles, c.role) {
			continue
		}
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(c.descs[i], kind, m.value(s))
	}
}

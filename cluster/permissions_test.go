package cluster

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The server configuration in docs/format/protocol.md is enough for a run, and does not
// let a shard read rows of Q or a watcher anything but the status.
func TestDocumentedPermissions(t *testing.T) {
	text, err := os.ReadFile("../docs/format/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```conf\n")
	conf, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatal("the page has no ```conf block")
	}
	options, err := server.ProcessConfigFile(writeFile(t, "nats-server.conf", conf))
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, options)
	g := newGraph(2000, 4, 2, 51)
	as := func(user, password string) *Embedded { return &Embedded{server: s, user: user, password: password} }
	tc := newClusterAt(t, g, as("coordinator", "change-me-1"), func(o *CoordinatorOptions) { o.Prefix = "privcom" })
	coordinator := tc.c.o.Conn
	tc.server = as("shard", "change-me-2")
	shard := func(o *ShardOptions) {
		o.Prefix = "privcom"
		o.Handlers = map[string]Handler{"measure": measure, "long": stretch(60_000)}
	}
	tc.worker(0, shard)
	tc.worker(1, shard)
	tc.multiply(operand(t, g.n, 3, 1), 0)
	tc.run("measure", someItems(3, 200_000), measure)
	tc.run("long", someItems(3, 9), stretch(60_000))
	if n := coordinator.Stats().AsyncErrors; n != 0 {
		t.Errorf("the coordinator was refused %d times", n)
	}

	for user, subjects := range map[*Embedded][]string{
		as("shard", "change-me-2"):   {"privcom.r1.q", "privcom.*.q", "privcom.>", "privcom.r1.piece"},
		as("watcher", "change-me-3"): {"privcom.r1.q", "privcom.r1.v", ">"},
	} {
		conn, err := user.Connect(tc.ctx, "curious", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for i, subject := range subjects {
			sub, err := conn.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			for wait := time.Now(); conn.Stats().AsyncErrors <= int64(i) && time.Since(wait) < 5*time.Second; {
				time.Sleep(time.Millisecond)
			}
			if conn.Stats().AsyncErrors != int64(i+1) {
				t.Errorf("%s may subscribe to %s", user.user, subject)
			}
			_ = sub.Unsubscribe()
		}
	}
}

// The page names every verb and every header.
func TestProtocolPageIsComplete(t *testing.T) {
	text, err := os.ReadFile("../docs/format/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, verb := range append(append([]string{verbStatus}, broadcastVerbs...), upwardVerbs...) {
		names = append(names, "`"+verb+"`")
	}
	for _, verb := range unicastVerbs {
		names = append(names, "`"+verb+".W`")
	}
	for _, key := range []string{keyVersion, keyRun, keyTerm, keyWorker, keyStep, keyAttempt, keyShard, keyFrom, keyTo, keyRows, keyCols,
		keyChunk, keyClip, keyElement, keyFlags, keyKind, keySize, keyPieces, keyPiece, keySHA256, keyCRC} {
		names = append(names, "`"+key+"`")
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) {
			t.Errorf("the page does not name %s", name)
		}
	}
}

package cluster

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/crypto/bcrypt"
)

// readyServer starts a server with deploy/nats/nats-server.conf, on loopback and with a
// certificate of the test's own, and gives a way to connect as one of its users.
func readyServer(t *testing.T) (s *server.Server, as func(user, name string) *Conn) {
	t.Helper()
	text, err := os.ReadFile("../deploy/nats/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	// One of the passwords is a bcrypt hash, as the file advises.
	hash, err := bcrypt.GenerateFromPassword([]byte("of-the-coordinator"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COORDINATOR_PASSWORD", string(hash))
	t.Setenv("SHARD_PASSWORD", "of-the-shard")
	t.Setenv("WATCHER_PASSWORD", "of-the-watcher")
	a := newAuthority(t)
	conf := strings.NewReplacer("/etc/nats/tls/tls.crt", a.certFile, "/etc/nats/tls/tls.key", a.keyFile, "/etc/nats/tls/ca.crt", a.caFile,
		"port: 4222", "port: -1").Replace(string(text))
	options, err := server.ProcessConfigFile(writeFile(t, "nats-server.conf", conf))
	if err != nil {
		t.Fatal(err)
	}
	s = startServer(t, options)
	return s, func(user, name string) *Conn {
		t.Helper()
		c, err := Connect(t.Context(), ConnectOptions{URL: "tls://" + s.Addr().String(), Name: name, CAFile: a.caFile,
			PasswordFile: writeFile(t, "password", user+":of-the-"+user)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
}

// The ready server configuration is enough for a run.
func TestReadyServerIsEnough(t *testing.T) {
	s, as := readyServer(t)
	g := newGraph(2000, 4, 2, 51)
	coordinator := as("coordinator", "privcom coordinator r1")
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.Conn, o.Prefix = coordinator, "privcom" })
	var shards []*Conn
	for i := range 2 {
		tc.worker(i, func(o *ShardOptions) {
			o.Conn.Close()
			o.Conn, o.Prefix = as("shard", fmt.Sprintf("privcom shard %d of r1", i)), "privcom"
			o.Handlers = map[string]Handler{"measure": measure, "long": stretch(60_000)}
			shards = append(shards, o.Conn)
		})
	}
	seen := make(chan struct{})
	watcher := as("watcher", "privcom status")
	tc.wg.Go(func() {
		_ = Watch(tc.ctx, watcher, "privcom", "r1", func(Status) error { close(seen); return errExpected })
	})
	tc.multiply(operand(t, g.n, 3, 1), 0)
	tc.run("measure", someItems(3, 200_000), measure)
	tc.run("long", someItems(3, 9), stretch(60_000))
	<-seen
	for _, c := range append(shards, coordinator, watcher) {
		if n := c.Stats().AsyncErrors; n != 0 {
			t.Errorf("%s was refused %d times", c.Opts.Name, n)
		}
	}
	z, err := s.Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range z.Conns {
		names[c.Name] = true
	}
	for _, name := range []string{"privcom coordinator r1", "privcom shard 0 of r1", "privcom shard 1 of r1", "privcom status"} {
		if !names[name] {
			t.Errorf("the server shows no connection %q, but %v", name, names)
		}
	}
}

// It allows nothing more: for every user and every verb, publishing and subscribing are
// refused unless the verb is the user's part.
func TestReadyServerAllowsNothingMore(t *testing.T) {
	_, as := readyServer(t)
	type right struct{ user, verb, what string }
	may := map[right]bool{}
	grant := func(user, what string, verbs ...string) {
		for _, v := range verbs {
			may[right{user, v, what}] = true
		}
	}
	grant("coordinator", "Publish", append(append([]string{verbStatus}, broadcastVerbs...), unicastVerbs...)...)
	grant("coordinator", "Subscription", append([]string{verbHello}, upwardVerbs...)...)
	grant("shard", "Publish", upwardVerbs...)
	grant("shard", "Subscription", append(append([]string{}, broadcastVerbs...), unicastVerbs...)...)
	grant("watcher", "Subscription", verbStatus)

	type subject struct{ verb, name string }
	subjects := []subject{{"", ">"}, {"", "privcom.>"}, {"", "privcom.r1.>"}, {"", "privcom.*.*"}, {"", "$SYS.>"}, {"", "other.r1.hello"}, {"", "$JS.API.INFO"}}
	for _, verb := range append(append([]string{verbStatus}, broadcastVerbs...), upwardVerbs...) {
		subjects = append(subjects, subject{verb, "privcom.r1." + verb})
	}
	for _, verb := range unicastVerbs {
		subjects = append(subjects, subject{verb, "privcom.r1." + verb + ".w0"})
	}
	for _, user := range []string{"coordinator", "shard", "watcher"} {
		conn := as(user, "curious")
		for _, what := range []string{"Publish", "Subscription"} {
			for _, s := range subjects {
				if what == "Publish" && strings.Contains(s.name, "*") || what == "Publish" && strings.Contains(s.name, ">") {
					continue // no subject to publish on
				}
				var err error
				if what == "Publish" {
					err = conn.Publish(s.name, nil)
				} else {
					_, err = conn.SubscribeSync(s.name)
				}
				if err == nil {
					err = conn.Flush() // the server answers in order: a refusal is here before the pong
				}
				if err != nil {
					t.Fatal(err)
				}
				last := conn.LastError()
				refused := last != nil && strings.Contains(strings.ToLower(last.Error()), strings.ToLower(fmt.Sprintf("%s to %q", what, s.name)))
				if allowed := may[right{user, s.verb, what}]; allowed == refused {
					t.Errorf("%s, %s to %s: allowed %v, want %v (%v)", user, what, s.name, !refused, allowed, last)
				}
			}
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

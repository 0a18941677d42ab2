package e2e

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// proxy stands between NATS and its clients and mistreats the messages that clients
// publish: it loses, repeats and reorders them.
type proxy struct {
	target              string
	lose, repeat, delay float64 // probabilities
	mu                  sync.Mutex
	random              *rand.Rand
	lost, held, doubled int
}

// startProxy gives the URL under which NATS is reached through p.
func startProxy(t *testing.T, nats string, p *proxy, seed uint64) string {
	t.Helper()
	u, err := url.Parse(nats)
	if err != nil {
		t.Fatal(err)
	}
	p.target, p.random = u.Host, rand.New(rand.NewPCG(seed, 3))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map
	t.Cleanup(func() {
		listener.Close()
		open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", p.target)
			if err != nil {
				client.Close()
				continue
			}
			open.Store(client, true)
			open.Store(server, true)
			end := func() { client.Close(); server.Close() }
			go func() { defer end(); io.Copy(client, server) }()
			go func() { defer end(); p.publish(client, server) }()
		}
	}()
	return "nats://" + listener.Addr().String()
}

// publish copies the client's half of the NATS protocol, frame by frame.
func (p *proxy) publish(from io.Reader, to io.Writer) {
	in := bufio.NewReaderSize(from, 1<<16)
	var late [][]byte
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(string(bytes.TrimSpace(line)), " ")
		if verb != "PUB" && verb != "HPUB" {
			if _, err := to.Write(line); err != nil {
				return
			}
			continue
		}
		fields := strings.Fields(rest)
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			return
		}
		frame := append(line, make([]byte, size+2)...)
		if _, err := io.ReadFull(in, frame[len(line):]); err != nil {
			return
		}
		out := [][]byte{frame}
		p.mu.Lock()
		switch x := p.random.Float64(); {
		case x < p.lose:
			out = nil
			p.lost++
		case x < p.lose+p.repeat:
			out = append(out, frame)
			p.doubled++
		case x < p.lose+p.repeat+p.delay:
			out, late = nil, append(late, frame) // until some later message has passed it
			p.held++
		case len(late) > 0:
			p.random.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
			out, late = append(out, late...), nil
		}
		p.mu.Unlock()
		for _, f := range out {
			if _, err := to.Write(f); err != nil {
				return
			}
		}
	}
}

func (p *proxy) counts() (lost, doubled, held int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost, p.doubled, p.held
}

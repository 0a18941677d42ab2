package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
)

// The workflow's shards are those of the base: a change of one is a change of both.
func TestTheWorkflowsShardsAreTheBases(t *testing.T) {
	base := copyOf(t, "overlays/local", "Job/privcom-shards").tree
	night := copyOf(t, "argo/local", "Job/night-x-shards").tree
	same := func(what string, want, have any) {
		t.Helper()
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s (- base, + workflow):\n%s", what, d)
		}
	}
	// What differs, and how: it is started at once, by a name of its own, with the run in its environment.
	if text(base, "spec", "suspend") != "true" || at(night, "spec", "suspend") != nil {
		t.Error("the base waits for a person, the workflow has asked one")
	}
	bc, nc := list(base, "spec", "template", "spec", "containers")[0], list(night, "spec", "template", "spec", "containers")[0]
	var env []any
	for _, e := range list(nc, "env") {
		switch text(e, "name") {
		case "PRIVCOM_RUN":
			same("run", "2027-01-31", text(e, "value"))
		case "PRIVCOM_GRAPH":
			same("graph", "/data/graph/2027-01-31", text(e, "value"))
		default:
			env = append(env, e)
		}
	}
	same("environment", list(bc, "env"), env)
	for _, drop := range []struct{ of, key string }{{"container", "env"}, {"container", "envFrom"}, {"spec", "suspend"}} {
		for _, job := range []any{base, night} {
			node := at(job, "spec").(map[string]any)
			if drop.of == "container" {
				node = list(job, "spec", "template", "spec", "containers")[0].(map[string]any)
			}
			delete(node, drop.key)
		}
	}
	volumes := func(job any) map[string]any {
		out := map[string]any{}
		spec := at(job, "spec", "template", "spec").(map[string]any)
		for _, v := range list(spec, "volumes") {
			out[text(v, "name")] = v
		}
		c := list(spec, "containers")[0].(map[string]any)
		for _, v := range list(c, "volumeMounts") {
			out["at "+text(v, "mountPath")] = v
		}
		delete(spec, "volumes")
		delete(c, "volumeMounts")
		return out
	}
	same("volumes", volumes(base), volumes(night))
	same("labels", at(base, "spec", "template", "metadata", "labels"), at(night, "spec", "template", "metadata", "labels"))
	same("spec", at(base, "spec"), at(night, "spec"))
}

// A decision that quote can come to is one that the workflow knows what to do about.
func TestTheWorkflowKnowsEveryDecision(t *testing.T) {
	source, err := os.ReadFile("../../../internal/cli/quote.go")
	if err != nil {
		t.Fatal(err)
	}
	workflow := string(copyOf(t, "argo/local", "WorkflowTemplate/privcom-night").text)
	all := regexp.MustCompile(`decision[A-Z][a-z]+ += "([a-z]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(all) != 4 {
		t.Fatalf("quote.go has %d decisions", len(all))
	}
	for _, d := range all {
		if n := strings.Count(workflow, d[1]); n < 1 {
			t.Errorf("the workflow never speaks of decision %q", d[1])
		}
	}
}

// No parameter of the workflow is without a description, and the workflow refers to no other.
func TestParametersAreDescribed(t *testing.T) {
	for _, dir := range []string{"argo/local", "argo/s3", "argo/e2e"} {
		o := copyOf(t, dir, "WorkflowTemplate/privcom-night")
		known := map[string]bool{}
		for _, p := range list(o.tree, "spec", "arguments", "parameters") {
			known[text(p, "name")] = true
			if len(text(p, "description")) < 20 {
				t.Errorf("%s: parameter %s is not described", dir, text(p, "name"))
			}
		}
		for _, m := range regexp.MustCompile(`workflow\.parameters\.([a-z0-9-]+)`).FindAllStringSubmatch(string(o.text), -1) {
			if !known[m[1]] {
				t.Errorf("%s: there is no parameter %s", dir, m[1])
			}
		}
		for _, p := range list(list(o.tree, "spec", "templates")[0], "outputs", "parameters") {
			if text(p, "description") == "" {
				t.Errorf("%s: output %s is not described", dir, text(p, "name"))
			}
		}
	}
}

// What a step of the workflow calls, with which flags, exists: the programs say so themselves in the cluster test; here
// the names of the flags are compared with their sources.
func TestEnvironmentNamesFlags(t *testing.T) {
	flags := map[string]bool{}
	for _, pattern := range []string{"../../../internal/cli/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(err, files)
		}
		for _, f := range files {
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?:Var|VarP|String|Bool|Int)\((?:[^,"]*, )?"([a-z][a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
				flags[m[1]] = true
			}
		}
	}
	if !flags["nats-password-file"] || !flags["unit"] || !flags["output"] {
		t.Fatalf("I cannot read the flags any more: %v", flags)
	}
	seen := 0
	check := func(where, name string) {
		if rest, ok := strings.CutPrefix(name, "PRIVCOM_"); ok {
			seen++
			if f := strings.ToLower(strings.ReplaceAll(rest, "_", "-")); !flags[f] {
				t.Errorf("%s: %s stands for a flag --%s that no program has", where, name, f)
			}
		}
	}
	for _, dir := range overlays {
		for _, o := range everything(t, dir) {
			if o.kind() == "ConfigMap" {
				data, _ := at(o.tree, "data").(map[string]any)
				for key := range data {
					check(dir+" "+o.name(), key)
				}
			}
			for _, w := range workloads(o) {
				for _, c := range w.containers {
					for _, e := range list(c, "env") {
						check(dir+" "+w.where, text(e, "name"))
					}
					for _, a := range list(c, "args") {
						if rest, ok := strings.CutPrefix(fmt.Sprint(a), "--"); ok && !strings.Contains(w.where, "nats") {
							name, _, _ := strings.Cut(rest, "=")
							check(dir+" "+w.where, "PRIVCOM_"+strings.ToUpper(name))
						}
					}
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d names were looked at", seen)
	}
}

// NATS reads both configurations, and its users are those of deploy/nats.
func TestNATSConfigurations(t *testing.T) {
	block := func(conf string) string { return conf[strings.Index(conf, "authorization {"):] }
	ready, err := os.ReadFile("../../nats/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := at(copyOf(t, "overlays/nats-ha", "ConfigMap/privcom-nats").tree, "data").(map[string]any)
	if d := cmp.Diff(block(string(ready)), block(fmt.Sprint(data["nats.conf"]))); d != "" {
		t.Errorf("users of deploy/nats/nats-server.conf (-) and base/nats.conf (+):\n%s", d)
	}
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	for name, v := range data {
		conf := regexp.MustCompile(`"?/etc/nats/tls/(tls|ca)\.crt"?`).ReplaceAllString(fmt.Sprint(v), `"`+cert+`"`)
		conf = regexp.MustCompile(`"?/etc/nats/tls/tls\.key"?`).ReplaceAllString(conf, `"`+key+`"`)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{"COORDINATOR", "SHARD", "WATCHER"} {
		t.Setenv(role+"_PASSWORD", "of-"+strings.ToLower(role))
	}
	t.Setenv("POD_NAME", "privcom-nats-0")
	for name, routes := range map[string]int{"nats.conf": 0, "cluster.conf": 3} {
		o, err := server.ProcessConfigFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o.TLSConfig == nil || len(o.Users) != 3 || len(o.Routes) != routes || o.MaxPayload != 8<<20 {
			t.Errorf("%s: TLS %v, %d users, %d routes, %d bytes", name, o.TLSConfig != nil, len(o.Users), len(o.Routes), o.MaxPayload)
		}
		for _, u := range o.Users {
			if u.Password != "of-"+u.Username {
				t.Errorf("%s: the password of %s is not that of the environment", name, u.Username)
			}
		}
		if routes > 0 && (o.Cluster.TLSConfig == nil || !o.Cluster.TLSConfig.ClientCAs.Equal(o.Cluster.TLSConfig.RootCAs)) {
			t.Errorf("%s: routes are open", name)
		}
	}
}

// Pods that nobody allows anything can reach nothing, and NATS takes its clients and no others.
func TestNetworkIsClosed(t *testing.T) {
	for _, dir := range []string{"overlays/local", "overlays/s3", "overlays/nats-ha", "overlays/e2e"} {
		closed := copyOf(t, dir, "NetworkPolicy/privcom-closed").tree
		if d := cmp.Diff(map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Ingress", "Egress"}}, at(closed, "spec")); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
		for _, rule := range list(copyOf(t, dir, "NetworkPolicy/privcom-nats").tree, "spec", "ingress") {
			if len(list(rule, "from")) == 0 || len(list(rule, "ports")) == 0 {
				t.Errorf("%s: NATS is open: %v", dir, rule)
			}
		}
	}
}

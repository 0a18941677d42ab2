package tests

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// workload is a pod template with where it stands, and what its object says for it.
type workload struct {
	where      string
	pod        map[string]any // a PodSpec, or the parts of one that a step has
	containers []any
	lasting    bool // not a step of a workflow: it has probes
}

// workloads finds every pod that an object makes.
func workloads(o object) []workload {
	switch o.kind() {
	case "Job", "StatefulSet", "Deployment", "DaemonSet":
		pod, _ := at(o.tree, "spec", "template", "spec").(map[string]any)
		return []workload{{o.name(), pod, append(slices.Clone(list(pod, "containers")), list(pod, "initContainers")...), true}}
	case "Pod":
		pod, _ := at(o.tree, "spec").(map[string]any)
		return []workload{{o.name(), pod, append(slices.Clone(list(pod, "containers")), list(pod, "initContainers")...), true}}
	case "WorkflowTemplate":
		var out []workload
		pod, _ := at(o.tree, "spec").(map[string]any)
		for _, step := range list(o.tree, "spec", "templates") {
			w := workload{where: o.name() + " step " + text(step, "name"), pod: pod}
			for _, k := range []string{"container", "script"} {
				if c := at(step, k); c != nil {
					w.containers = append(w.containers, c)
				}
			}
			w.containers = append(append(w.containers, list(step, "initContainers")...), list(step, "sidecars")...)
			if len(w.containers) > 0 {
				out = append(out, w)
			}
		}
		return out
	}
	return nil
}

// violations applies our own policy to a set of objects, and says for each fault where it is.
func violations(all []object) []string {
	var out []string
	say := func(where, format string, args ...any) { out = append(out, where+": "+fmt.Sprintf(format, args...)) }
	for _, o := range all {
		for _, w := range workloads(o) {
			checkPod(w, func(f string, a ...any) { say(w.where, f, a...) })
			for _, c := range w.containers {
				where := w.where + " container " + text(c, "name")
				checkContainer(o, w, c, func(f string, a ...any) { say(where, f, a...) })
			}
		}
		checkSecrets(o, func(f string, a ...any) { say(o.name(), f, a...) })
		if o.kind() == "ServiceAccount" && text(o.tree, "automountServiceAccountToken") != "false" {
			say(o.name(), "mounts a token")
		}
		if o.kind() == "ClusterRoleBinding" || o.kind() == "ClusterRole" {
			say(o.name(), "rights beyond the namespace")
		}
		if o.kind() == "Role" {
			for _, r := range list(o.tree, "rules") {
				for _, key := range []string{"verbs", "resources", "apiGroups"} {
					if slices.Contains(list(r, key), any("*")) {
						say(o.name(), "a rule with * in %s", key)
					}
				}
				if slices.Contains(list(r, "resources"), any("secrets")) {
					say(o.name(), "may read Secrets")
				}
			}
		}
		if o.kind() == "Job" {
			checkJob(o, func(f string, a ...any) { say(o.name(), f, a...) })
		}
	}
	return out
}

func checkPod(w workload, say func(string, ...any)) {
	if text(w.pod, "securityContext", "runAsNonRoot") != "true" {
		say("may run as root")
	}
	if u, _ := strconv.Atoi(text(w.pod, "securityContext", "runAsUser")); u < 1 {
		say("names no user above 0")
	}
	if text(w.pod, "securityContext", "seccompProfile", "type") != "RuntimeDefault" {
		say("no seccomp profile")
	}
	if text(w.pod, "automountServiceAccountToken") != "false" {
		say("mounts a token")
	}
	if text(w.pod, "serviceAccountName") == "" {
		say("has no service account of its own")
	}
	for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if text(w.pod, key) == "true" {
			say("%s", key)
		}
	}
	if w.lasting && text(w.pod, "terminationGracePeriodSeconds") == "" {
		say("no terminationGracePeriodSeconds")
	}
	for _, v := range list(w.pod, "volumes") {
		switch {
		case at(v, "hostPath") != nil:
			say("volume %s is a folder of the node", text(v, "name"))
		case at(v, "emptyDir") != nil && text(v, "emptyDir", "sizeLimit") == "":
			say("volume %s has no size", text(v, "name"))
		}
	}
}

func checkContainer(o object, w workload, c any, say func(string, ...any)) {
	if text(c, "securityContext", "allowPrivilegeEscalation") != "false" {
		say("allowPrivilegeEscalation is not false")
	}
	if text(c, "securityContext", "readOnlyRootFilesystem") != "true" {
		say("its root can be written")
	}
	if text(c, "securityContext", "privileged") == "true" {
		say("is privileged")
	}
	if !slices.Contains(list(c, "securityContext", "capabilities", "drop"), any("ALL")) || len(list(c, "securityContext", "capabilities", "add")) > 0 {
		say("keeps capabilities")
	}
	for _, r := range []string{"memory", "ephemeral-storage"} {
		limit, request := text(c, "resources", "limits", r), text(c, "resources", "requests", r)
		if limit == "" || limit != request {
			say("%s limit %q, request %q", r, limit, request)
		}
	}
	if text(c, "resources", "limits", "cpu") == "" || text(c, "resources", "requests", "cpu") == "" {
		say("no cpu limit or request")
	}
	env := map[string]any{}
	for _, e := range list(c, "env") {
		env[text(e, "name")] = e
	}
	ref := at(env["LIMIT_MIB"], "valueFrom", "resourceFieldRef")
	if text(env["GOMEMLIMIT"], "value") != "$(LIMIT_MIB)000000" || text(ref, "resource") != "limits.memory" || text(ref, "divisor") != "1Mi" ||
		text(ref, "containerName") != text(c, "name") {
		say("GOMEMLIMIT does not follow from the memory limit")
	}
	image := text(c, "image")
	for _, p := range list(o.tree, "spec", "arguments", "parameters") {
		image = strings.ReplaceAll(image, "{{workflow.parameters."+text(p, "name")+"}}", text(p, "value"))
	}
	_, tag, ok := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !ok && !strings.Contains(image, "@sha256:") || tag == "latest" || tag == "" || strings.Contains(tag, "{") {
		say("image %q has no fixed tag", image)
	}
	if text(c, "terminationMessagePolicy") != "FallbackToLogsOnError" {
		say("no termination message")
	}
	if w.lasting {
		for _, p := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			if at(c, p) == nil {
				say("no %s", p)
			}
		}
	}
}

var (
	secretName = regexp.MustCompile(`(?i)(password|passwd|secret|token|_key|credential)`)
	secretText = regexp.MustCompile(`-----BEGIN|://[^/\s:@$]+:[^/\s@$]+@|\bAKIA[0-9A-Z]{16}\b|(?i)\b(password|token|secret)\s*[:=]\s*["']?[^\s"'$,}]`)
)

// checkSecrets refuses values that should be references.
func checkSecrets(o object, say func(string, ...any)) {
	if o.kind() == "Secret" && (at(o.tree, "data") != nil || at(o.tree, "stringData") != nil) {
		say("a Secret with content")
	}
	if o.kind() == "ConfigMap" {
		data, _ := at(o.tree, "data").(map[string]any)
		for key, v := range data {
			value := fmt.Sprint(v)
			// A file's place is not its content.
			if secretName.MatchString(key) && value != "" && !strings.HasPrefix(value, "/") {
				say("the value of %s stands in a ConfigMap", key)
			}
			if hit := secretText.FindString(value); hit != "" {
				say("%s has a secret: %.12s…", key, hit)
			}
		}
	}
	for _, w := range workloads(o) {
		for _, c := range w.containers {
			for _, e := range list(c, "env") {
				value := text(e, "value")
				if value != "" && (secretName.MatchString(text(e, "name")) && !strings.HasPrefix(value, "/") || secretText.MatchString(value)) {
					say("the value of %s stands in the manifest", text(e, "name"))
				}
			}
			for _, a := range append(slices.Clone(list(c, "args")), list(c, "command")...) {
				if secretText.MatchString(fmt.Sprint(a)) || regexp.MustCompile(`(?i)--[a-z-]*password=`).MatchString(fmt.Sprint(a)) {
					say("an argument carries a secret")
				}
			}
		}
	}
}

// exits are the codes of docs/exit-codes.md and whether another try may help.
func exits(t *testing.T) map[int]bool {
	t.Helper()
	page, err := os.ReadFile("../../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|.*\| (no|yes|perhaps[^|]*) \|$`).FindAllStringSubmatch(string(page), -1) {
		code, _ := strconv.Atoi(row[1])
		out[code] = row[2] != "no"
	}
	if len(out) < 8 {
		t.Fatalf("docs/exit-codes.md has %d codes that I can read", len(out))
	}
	return out
}

func checkJob(o object, say func(string, ...any)) {
	for _, key := range []string{"activeDeadlineSeconds", "ttlSecondsAfterFinished"} {
		if text(o.tree, "spec", key) == "" {
			say("no %s", key)
		}
	}
	if text(o.tree, "spec", "podReplacementPolicy") != "Failed" {
		say("podReplacementPolicy is not Failed: two pods of one index would run")
	}
	if text(o.tree, "spec", "completionMode") == "Indexed" && text(o.tree, "spec", "backoffLimitPerIndex") == "" {
		say("no backoffLimitPerIndex")
	}
	rules := list(o.tree, "spec", "podFailurePolicy", "rules")
	if len(rules) == 0 || text(rules[0], "action") != "Ignore" || len(list(rules[0], "onPodConditions")) != 1 ||
		text(list(rules[0], "onPodConditions")[0], "type") != "DisruptionTarget" {
		say("its first rule does not ignore disruptions")
	}
}

// action is what a Job does about a pod that ends with a code: the first rule that names it, else Count.
func action(o object, code int) string {
	for _, r := range list(o.tree, "spec", "podFailurePolicy", "rules") {
		for _, v := range list(r, "onExitCodes", "values") {
			if text(r, "onExitCodes", "operator") == "In" && fmt.Sprint(v) == strconv.Itoa(code) {
				return text(r, "action")
			}
		}
	}
	return "Count"
}

func TestPolicyHolds(t *testing.T) {
	for _, dir := range overlays {
		for _, v := range violations(everything(t, dir)) {
			t.Errorf("%s: %s", dir, v)
		}
	}
}

// Whoever deploys for real asks for as much processor as the limit says: a shard that is throttled holds up every step.
func TestRequestsAreLimits(t *testing.T) {
	for _, dir := range overlays {
		if strings.HasSuffix(dir, "e2e") {
			continue // three shards on two processors
		}
		for _, o := range everything(t, dir) {
			for _, w := range workloads(o) {
				for _, c := range w.containers {
					if l, r := text(c, "resources", "limits", "cpu"), text(c, "resources", "requests", "cpu"); l != r {
						t.Errorf("%s: %s: cpu limit %s, request %s", dir, w.where, l, r)
					}
				}
			}
		}
	}
}

// Jobs and steps try again after the codes that the documentation says so of, and after no others.
func TestRetriesFollowTheExitCodes(t *testing.T) {
	codes := exits(t)
	jobs, steps := 0, 0
	for _, dir := range overlays {
		for _, o := range everything(t, dir) {
			if o.kind() == "Job" {
				jobs++
				for code, again := range codes {
					if strings.Contains(o.name(), "shards") && (code == 4 || code == 5) {
						continue // a shard has no ledger and no output folder
					}
					switch a := action(o, code); {
					case again && a != "Count" && a != "Ignore":
						t.Errorf("%s: %s: %s after exit code %d, which another try may heal", dir, o.name(), a, code)
					case !again && a != "FailJob" && a != "FailIndex":
						t.Errorf("%s: %s: %s after exit code %d, which no try heals", dir, o.name(), a, code)
					}
				}
			}
			if o.kind() != "WorkflowTemplate" {
				continue
			}
			for _, step := range list(o.tree, "spec", "templates") {
				if at(step, "container") == nil {
					continue
				}
				steps++
				m := regexp.MustCompile(`asInt\(lastRetry\.exitCode\) in \[([0-9, ]+)\]`).FindStringSubmatch(text(step, "retryStrategy", "expression"))
				if m == nil || text(step, "retryStrategy", "limit") == "" {
					t.Errorf("%s: step %s has no retry by exit code", dir, text(step, "name"))
					continue
				}
				listed := strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")
				for code, again := range codes {
					if slices.Contains(listed, strconv.Itoa(code)) != again {
						t.Errorf("%s: step %s: code %d is tried again: %v, the documentation says %v", dir, text(step, "name"), code, !again, again)
					}
				}
			}
		}
	}
	if jobs < 10 || steps < 18 {
		t.Errorf("%d jobs and %d steps were looked at", jobs, steps)
	}
}

package tests

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// set changes the value at a path of keys; "0" is the first of a list, nil removes.
func set(t *testing.T, tree any, value any, path ...string) {
	t.Helper()
	for i, key := range path {
		last := i == len(path)-1
		switch node := tree.(type) {
		case map[string]any:
			if last && value == nil {
				if _, ok := node[key]; !ok {
					t.Fatalf("there is no %s to remove", strings.Join(path, "."))
				}
				delete(node, key)
			} else if last {
				node[key] = value
			}
			tree = node[key]
		case []any:
			if key != "0" || len(node) == 0 {
				t.Fatalf("no element %s in %s", key, strings.Join(path, "."))
			}
			if last {
				node[0] = value
			}
			tree = node[0]
		default:
			t.Fatalf("nothing at %s", strings.Join(path[:i+1], "."))
		}
	}
}

// copyOf is an object that a test may spoil.
func copyOf(t *testing.T, dir, name string) object {
	t.Helper()
	for _, o := range everything(t, dir) {
		if o.name() == name {
			return parse(t, o.text)
		}
	}
	t.Fatalf("%s makes no %s", dir, name)
	return object{}
}

const pod, first = "spec.template.spec", "spec.template.spec.containers.0"

// Each rule is shown a manifest that breaks it.
func TestPolicyBites(t *testing.T) {
	coordinator, plan := "Job/privcom-coordinator", "ConfigMap/privcom-plan"
	env := func(name, value string) []any { return []any{map[string]any{"name": name, "value": value}} }
	for _, c := range []struct {
		object, path string
		value        any
		want         string
	}{
		{coordinator, pod + ".securityContext.runAsNonRoot", false, "may run as root"},
		{coordinator, pod + ".securityContext.runAsUser", 0, "names no user above 0"},
		{coordinator, pod + ".securityContext.seccompProfile", nil, "no seccomp profile"},
		{coordinator, pod + ".securityContext.seccompProfile.type", "Unconfined", "no seccomp profile"},
		{coordinator, pod + ".automountServiceAccountToken", nil, "mounts a token"},
		{coordinator, pod + ".serviceAccountName", nil, "no service account of its own"},
		{coordinator, pod + ".hostNetwork", true, "hostNetwork"},
		{coordinator, pod + ".hostPID", true, "hostPID"},
		{coordinator, pod + ".terminationGracePeriodSeconds", nil, "no terminationGracePeriodSeconds"},
		{coordinator, pod + ".volumes", []any{map[string]any{"name": "x", "hostPath": map[string]any{"path": "/"}}}, "is a folder of the node"},
		{coordinator, pod + ".volumes", []any{map[string]any{"name": "x", "emptyDir": map[string]any{}}}, "has no size"},
		{coordinator, first + ".securityContext.allowPrivilegeEscalation", true, "allowPrivilegeEscalation"},
		{coordinator, first + ".securityContext.readOnlyRootFilesystem", nil, "its root can be written"},
		{coordinator, first + ".securityContext.privileged", true, "is privileged"},
		{coordinator, first + ".securityContext.capabilities.drop", []any{"NET_RAW"}, "keeps capabilities"},
		{coordinator, first + ".securityContext.capabilities.add", []any{"NET_ADMIN"}, "keeps capabilities"},
		{coordinator, first + ".resources.limits.memory", "3Gi", `memory limit "3Gi", request "2Gi"`},
		{coordinator, first + ".resources.limits.memory", nil, `memory limit ""`},
		{coordinator, first + ".resources.requests.ephemeral-storage", nil, "ephemeral-storage limit"},
		{coordinator, first + ".resources.limits.cpu", nil, "no cpu limit"},
		{coordinator, first + ".env", env("GOMEMLIMIT", "2GiB"), "GOMEMLIMIT does not follow"},
		{coordinator, first + ".env", []any{}, "GOMEMLIMIT does not follow"},
		{coordinator, first + ".image", "privcom", "no fixed tag"},
		{coordinator, first + ".image", "example.com:5000/privcom", "no fixed tag"},
		{coordinator, first + ".image", "privcom:latest", "no fixed tag"},
		{coordinator, first + ".terminationMessagePolicy", nil, "no termination message"},
		{coordinator, first + ".livenessProbe", nil, "no livenessProbe"},
		{coordinator, first + ".readinessProbe", nil, "no readinessProbe"},
		{coordinator, first + ".startupProbe", nil, "no startupProbe"},
		{coordinator, first + ".env", env("NATS_PASSWORD", "hunter2"), "the value of NATS_PASSWORD stands in the manifest"},
		{coordinator, first + ".env", env("PRIVCOM_NATS", "nats://shard:hunter2@privcom-nats:4222"), "the value of PRIVCOM_NATS stands in the manifest"},
		{coordinator, first + ".args", []any{"--nats-password=hunter2"}, "an argument carries a secret"},
		{coordinator, "spec.activeDeadlineSeconds", nil, "no activeDeadlineSeconds"},
		{coordinator, "spec.ttlSecondsAfterFinished", nil, "no ttlSecondsAfterFinished"},
		{coordinator, "spec.podReplacementPolicy", "TerminatingOrFailed", "podReplacementPolicy is not Failed"},
		{coordinator, "spec.podFailurePolicy.rules.0.action", "Count", "does not ignore disruptions"},
		{coordinator, "spec.podFailurePolicy", nil, "does not ignore disruptions"},
		{"Job/privcom-shards", "spec.backoffLimitPerIndex", nil, "no backoffLimitPerIndex"},
		{"StatefulSet/privcom-nats", first + ".securityContext", nil, "keeps capabilities"},
		{"ServiceAccount/privcom-shard", "automountServiceAccountToken", true, "mounts a token"},
		{plan, "data.PRIVCOM_NATS_PASSWORD", "hunter2", "stands in a ConfigMap"},
		{plan, "data.NOTE", "AKIAABCDEFGHIJKLMNOP", "has a secret"},
		{"ConfigMap/privcom-nats", "data.nats", "users = [{user: shard, password: hunter2}]", "has a secret"},
		{plan, "kind", "Secret", "a Secret with content"},
	} {
		o := copyOf(t, "overlays/local", c.object)
		set(t, o.tree, c.value, strings.Split(c.path, ".")...)
		if got := strings.Join(violations([]object{o}), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s with %s = %v: want %q, the policy says %q", c.object, c.path, c.value, c.want, got)
		}
	}
	role := copyOf(t, "argo/local", "Role/privcom-workflow")
	set(t, role.tree, []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"*"}}}, "rules")
	if got := strings.Join(violations([]object{role}), "\n"); !strings.Contains(got, "* in verbs") || !strings.Contains(got, "may read Secrets") {
		t.Errorf("a role of everything: %q", got)
	}
	night := copyOf(t, "argo/local", "WorkflowTemplate/privcom-night")
	for _, p := range list(night.tree, "spec", "arguments", "parameters") {
		if text(p, "name") == "image" {
			set(t, p, "privcom:latest", "value")
		}
	}
	for _, s := range list(night.tree, "spec", "templates") {
		if text(s, "name") == "plan" {
			set(t, s, true, "container", "securityContext", "allowPrivilegeEscalation")
		}
	}
	if got := strings.Join(violations([]object{night}), "\n"); !strings.Contains(got, "no fixed tag") || !strings.Contains(got, "step plan container main: allowPrivilegeEscalation") {
		t.Errorf("a careless workflow: %q", got)
	}
}

// Decoding and schemas refuse what they are for.
func TestDecodingAndSchemasBite(t *testing.T) {
	for _, c := range []struct {
		dir, object, path string
		value             any
		strict, schema    bool // which of the two must refuse it
	}{
		{"base", "Job/privcom-shards", "spec.completionsMode", "Indexed", true, true},
		{"base", "Job/privcom-shards", "spec.parallelism", "three", true, true},
		{"base", "Job/privcom-shards", "spec.template.spec.containers", nil, false, true},
		{"base", "Job/privcom-shards", "spec.podFailurePolicy.rules.0.onPodConditions.0.status", nil, false, true},
		{"base", "NetworkPolicy/privcom-nats", "spec.ingres", []any{}, true, true},
		{"base", "StatefulSet/privcom-nats", "spec.selector", nil, false, true},
		{"argo/local", "WorkflowTemplate/privcom-night", "spec.entrypoints", "main", false, true},
		{"argo/local", "WorkflowTemplate/privcom-night", "spec.templates.0.step", []any{}, false, true},
		{"argo/local", "CronWorkflow/privcom-night", "spec.schedules", "0 2 * * *", false, true},
		{"argo/local", "CronWorkflow/privcom-night", "spec.workflowSpec", nil, false, true},
	} {
		o := copyOf(t, c.dir, c.object)
		set(t, o.tree, c.value, strings.Split(c.path, ".")...)
		data, err := yaml.Marshal(o.tree)
		if err != nil {
			t.Fatal(err)
		}
		spoilt := parse(t, data)
		if err := decode(spoilt); c.strict && err == nil {
			t.Errorf("%s with %s = %v is decoded", c.object, c.path, c.value)
		}
		if err := validate(spoilt); c.schema && err == nil {
			t.Errorf("%s with %s = %v meets the schema", c.object, c.path, c.value)
		}
	}
	var twice map[string]any
	if err := yaml.UnmarshalStrict([]byte("kind: Job\nkind: Pod\n"), &twice); err == nil {
		t.Error("a repeated key is read")
	}
}

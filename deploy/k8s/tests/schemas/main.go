package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// origin is a schema inside a module.
type origin struct {
	module, file, out string
	roots             []string
}

var origins = []origin{
	{"k8s.io/kubernetes@v1.34.4", "api/openapi-spec/swagger.json", "testdata/kubernetes.json", []string{
		"io.k8s.api.apps.v1.StatefulSet", "io.k8s.api.batch.v1.Job", "io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.Namespace",
		"io.k8s.api.core.v1.PersistentVolume", "io.k8s.api.core.v1.PersistentVolumeClaim", "io.k8s.api.core.v1.Secret",
		"io.k8s.api.core.v1.Service", "io.k8s.api.core.v1.ServiceAccount", "io.k8s.api.networking.v1.NetworkPolicy",
		"io.k8s.api.policy.v1.PodDisruptionBudget", "io.k8s.api.rbac.v1.Role", "io.k8s.api.rbac.v1.RoleBinding"}},
	{"github.com/argoproj/argo-workflows/v3@v3.7.3", "api/jsonschema/schema.json", "testdata/argo.json", []string{
		"io.argoproj.workflow.v1alpha1.WorkflowTemplate", "io.argoproj.workflow.v1alpha1.CronWorkflow"}},
}

func main() {
	var errs []error
	for _, o := range origins {
		errs = append(errs, o.cut())
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// cut writes the part of a schema that its roots reach.
func (o origin) cut() error {
	out, err := exec.Command("go", "mod", "download", "-json", o.module).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", o.module, err)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(m.Dir, o.file))
	if err != nil {
		return err
	}
	var all struct{ Definitions map[string]any }
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	kept := map[string]any{}
	var take func(name string) error
	take = func(name string) error {
		if _, ok := kept[name]; ok {
			return nil
		}
		d, ok := all.Definitions[name]
		if !ok {
			return fmt.Errorf("%s has no %s", o.file, name)
		}
		kept[name] = trim(d)
		for _, next := range references(d) {
			if err := take(next); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range o.roots {
		if err := take(r); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(map[string]any{"$comment": "cut from " + o.module + " by go generate", "definitions": kept}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, append(text, '\n'), 0o644)
}

// trim drops what only people read, and closes objects.
func trim(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if fields, ok := x.(map[string]any); ok && (k == "properties" || k == "definitions") {
				named := map[string]any{} // its keys are names, whatever they are
				for name, field := range fields {
					named[name] = trim(field)
				}
				out[k] = named
				continue
			}
			switch {
			case k == "description", k == "example", k == "format", k == "default", strings.HasPrefix(k, "x-"):
				continue
			}
			out[k] = trim(x)
		}
		_, has := out["properties"].(map[string]any)
		if _, open := out["additionalProperties"]; has && !open {
			out["additionalProperties"] = false
		}
		// A quantity, or an int or string, may be written as a number.
		if f, _ := v["format"].(string); f == "int-or-string" {
			out["type"] = []any{"string", "integer"}
		}
		return out
	case []any:
		for i := range v {
			v[i] = trim(v[i])
		}
	}
	return v
}

// references lists the definitions that a schema names.
func references(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if s, ok := x.(string); ok && k == "$ref" {
				out = append(out, strings.TrimPrefix(s, "#/definitions/"))
			}
			out = append(out, references(x)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, references(x)...)
		}
	}
	return out
}

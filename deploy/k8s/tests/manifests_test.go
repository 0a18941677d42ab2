package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// overlays are the folders that a user may apply, and base, from the folder k8s.
var overlays = []string{"base", "overlays/local", "overlays/s3", "overlays/nats-ha", "overlays/e2e", "argo/local", "argo/s3", "argo/e2e"}

// object is one manifest, as text and as a tree.
type object struct {
	text []byte
	tree map[string]any
}

func (o object) kind() string { return text(o.tree, "kind") }
func (o object) name() string { return o.kind() + "/" + text(o.tree, "metadata", "name") }

// build runs kustomize on a folder; what it gives is kept.
var build = func() func(t *testing.T, dir string) []object {
	var lock sync.Mutex
	done := map[string][]object{}
	return func(t *testing.T, dir string) []object {
		t.Helper()
		lock.Lock()
		defer lock.Unlock()
		if all, ok := done[dir]; ok {
			return all
		}
		m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", dir))
		if err != nil {
			t.Fatalf("kustomize build %s: %v", dir, err)
		}
		var all []object
		for _, r := range m.Resources() {
			data, err := r.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, parse(t, data))
		}
		done[dir] = all
		return all
	}
}()

func parse(t *testing.T, data []byte) object {
	t.Helper()
	o := object{text: data}
	if err := yaml.UnmarshalStrict(data, &o.tree); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return o
}

// decoder knows the kinds of Kubernetes that are used, and refuses unknown and repeated fields.
var decoder = sync.OnceValue(func() runtime.Decoder {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(s, serializer.EnableStrict).UniversalDeserializer()
})

func isArgo(o object) bool { return strings.HasPrefix(text(o.tree, "apiVersion"), "argoproj.io/") }

// decode is the strict decoding of a kind of Kubernetes itself.
func decode(o object) error {
	if isArgo(o) {
		return nil // the schema alone: Argo's Go types bring half a cloud with them
	}
	_, _, err := decoder().Decode(o.text, nil, nil)
	return err
}

// schemas compiles the definitions of a file in testdata.
var schemas = func() func(file, name string) (*jsonschema.Schema, error) {
	var lock sync.Mutex
	compilers := map[string]*jsonschema.Compiler{}
	return func(file, name string) (*jsonschema.Schema, error) {
		lock.Lock()
		defer lock.Unlock()
		c, ok := compilers[file]
		if !ok {
			f, err := os.Open(filepath.Join("testdata", file))
			if err != nil {
				return nil, err
			}
			defer f.Close()
			doc, err := jsonschema.UnmarshalJSON(f)
			if err != nil {
				return nil, err
			}
			c = jsonschema.NewCompiler()
			c.DefaultDraft(jsonschema.Draft7)
			if err := c.AddResource("file:///"+file, doc); err != nil {
				return nil, err
			}
			compilers[file] = c
		}
		return c.Compile("file:///" + file + "#/definitions/" + name)
	}
}()

// groups name the definitions of an apiVersion.
var groups = map[string][2]string{
	"v1": {"kubernetes.json", "io.k8s.api.core.v1."}, "apps/v1": {"kubernetes.json", "io.k8s.api.apps.v1."},
	"batch/v1": {"kubernetes.json", "io.k8s.api.batch.v1."}, "policy/v1": {"kubernetes.json", "io.k8s.api.policy.v1."},
	"networking.k8s.io/v1":         {"kubernetes.json", "io.k8s.api.networking.v1."},
	"rbac.authorization.k8s.io/v1": {"kubernetes.json", "io.k8s.api.rbac.v1."},
	"argoproj.io/v1alpha1":         {"argo.json", "io.argoproj.workflow.v1alpha1."},
}

// validate checks an object against its API's schema.
func validate(o object) error {
	g, ok := groups[text(o.tree, "apiVersion")]
	if !ok {
		return fmt.Errorf("apiVersion %q has no schema here", text(o.tree, "apiVersion"))
	}
	s, err := schemas(g[0], g[1]+o.kind())
	if err != nil {
		return err
	}
	return s.Validate(o.tree)
}

// embedded are the manifests inside the steps of a WorkflowTemplate, with parameters filled
// in as its defaults have them.
func embedded(t *testing.T, o object) []object {
	t.Helper()
	values := map[string]string{"workflow.name": "night-x", "inputs.parameters.run": "2027-01-31"}
	for _, p := range list(o.tree, "spec", "arguments", "parameters") {
		values["workflow.parameters."+text(p, "name")] = text(p, "value")
	}
	var out []object
	for _, step := range list(o.tree, "spec", "templates") {
		m := text(step, "resource", "manifest")
		if m == "" {
			continue
		}
		m = regexp.MustCompile(`\{\{([^}]*)\}\}`).ReplaceAllStringFunc(m, func(ref string) string {
			v, ok := values[strings.Trim(ref, "{}")]
			if !ok {
				t.Errorf("%s: step %s refers to %s, which is no parameter", o.name(), text(step, "name"), ref)
			}
			return v
		})
		if e := parse(t, []byte(m)); text(step, "resource", "action") != "delete" {
			out = append(out, e)
		}
	}
	return out
}

// everything is what an overlay makes, and what its workflow will make.
func everything(t *testing.T, dir string) []object {
	t.Helper()
	all := build(t, dir)
	for _, o := range build(t, dir) {
		if o.kind() == "WorkflowTemplate" {
			all = append(all[:len(all):len(all)], embedded(t, o)...)
		}
	}
	return all
}

func TestOverlaysBuildDecodeAndMeetTheSchemas(t *testing.T) {
	for _, dir := range overlays {
		t.Run(dir, func(t *testing.T) {
			all := everything(t, dir)
			if len(all) < 5 {
				t.Errorf("%d objects", len(all))
			}
			for _, o := range all {
				if err := decode(o); err != nil {
					t.Errorf("%s: %v", o.name(), err)
				}
				if err := validate(o); err != nil {
					t.Errorf("%s: %v", o.name(), err)
				}
			}
		})
	}
}

// Every folder with a kustomization is in the list above, or is a component.
func TestNoOverlayIsForgotten(t *testing.T) {
	have := map[string]bool{"argo/base": true, "components/nats-ha": true}
	for _, o := range overlays {
		have[o] = true
	}
	err := filepath.WalkDir("..", func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "kustomization.yaml" {
			if dir, _ := filepath.Rel("..", filepath.Dir(name)); !have[filepath.ToSlash(dir)] {
				t.Errorf("%s is checked by nothing: add it to overlays", dir)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// text is the string at a path of keys, "" where there is none.
func text(tree any, path ...string) string {
	switch v := at(tree, path...).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func at(tree any, path ...string) any {
	for _, key := range path {
		m, _ := tree.(map[string]any)
		tree = m[key]
	}
	return tree
}

func list(tree any, path ...string) []any {
	l, _ := at(tree, path...).([]any)
	return l
}

package registration_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

func TestGenerate_InstallerForm(t *testing.T) {
	files := generate(t, options())
	archive, err := charts.Archive("network-controller", "v0.7.0")
	require.NoError(t, err)
	for path, content := range files {
		if !strings.HasSuffix(path, "/trellis.yaml") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			var got, older gardencorev1beta1.ControllerDeployment
			var registered, registeredOlder gardencorev1beta1.ControllerRegistration
			documents(t, content, &got, &registered)
			documents(t, files[strings.Replace(path, "trellis", "v1beta1", 1)], &older, &registeredOlder)
			assert.Empty(t, cmp.Diff(registeredOlder, registered), "Gardener is told the same, and need not know who installs it")
			assert.Equal(t, "trellis", got.Type)
			config, helm := mapping(t, got.ProviderConfig.Raw), mapping(t, older.ProviderConfig.Raw)
			assert.Equal(t, "installation.trellis.garden/v1alpha1", config["apiVersion"])
			assert.Equal(t, "ControllerDeploymentConfig", config["kind"])
			assert.Equal(t, helm["chart"], config["chart"])
			assert.Equal(t, helm["values"], config["values"])
			assert.Equal(t, map[string]any{"soakTime": "5m", "maxUnavailable": "25%", "rollback": "Automatic"}, config["rollout"])
			assert.Empty(t, unknownFields(t, "ControllerDeploymentConfig", config))
		})
	}
	var one struct{ Chart []byte }
	var deployment gardencorev1beta1.ControllerDeployment
	documents(t, files["network/trellis.yaml"], &deployment, &gardencorev1beta1.ControllerRegistration{})
	require.NoError(t, yaml.Unmarshal(deployment.ProviderConfig.Raw, &one))
	assert.Equal(t, archive, one.Chart)
}

func TestGenerate_InstallerConfig(t *testing.T) {
	files := generate(t, options(func(o *registration.Options) {
		o.Config = registration.Values{
			"rollout": registration.Values{"soakTime": "1h", "waves": []any{registration.Values{
				"name": "canary", "seedSelector": registration.Values{"matchLabels": registration.Values{"canary": "true"}},
			}}},
			"uninstall": registration.Values{"whileRequired": "Wait"},
		}
		o.ConfigOf = map[string]registration.Values{"network": {
			"historyLimit": 3, "rollout": registration.Values{"paused": true, "healthGate": registration.Values{"deadline": "20m"}},
			"valuesOverlays": []any{registration.Values{
				"name": "small", "seedSelector": registration.Values{}, "values": registration.Values{"replicaCount": 1},
			}},
		}}
	}))
	configOf := func(name string) map[string]any {
		var deployment gardencorev1beta1.ControllerDeployment
		documents(t, files[name+"/trellis.yaml"], &deployment, &gardencorev1beta1.ControllerRegistration{})
		config := mapping(t, deployment.ProviderConfig.Raw)
		assert.Empty(t, unknownFields(t, "ControllerDeploymentConfig", config))
		delete(config, "chart")
		return config
	}
	const head = "apiVersion: installation.trellis.garden/v1alpha1\nkind: ControllerDeploymentConfig\n"
	const waves = "waves: [{name: canary, seedSelector: {matchLabels: {canary: 'true'}}}]"
	assert.Equal(t, mapping(t, []byte(head+`
values: {types: [openstack, aws]}
rollout: {soakTime: 1h, maxUnavailable: 25%, rollback: Automatic, `+waves+`}
uninstall: {whileRequired: Wait}
`)), configOf("worker"))
	assert.Equal(t, mapping(t, []byte(head+`
values: {types: [calico, gardenet]}
rollout: {soakTime: 1h, maxUnavailable: 25%, rollback: Automatic, paused: true, healthGate: {deadline: 20m}, `+waves+`}
uninstall: {whileRequired: Wait}
historyLimit: 3
valuesOverlays: [{name: small, seedSelector: {}, values: {replicaCount: 1}}]
`)), configOf("network"))
}

func TestGenerate_InstallerConfigErrors(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*registration.Options)
		want   string
	}{
		"another chart": {
			func(o *registration.Options) { o.Config = registration.Values{"chart": "x"} },
			"config: chart is not for here; there are valuesOverlays, rollout, uninstall, historyLimit",
		},
		"values, which have a place of their own": {
			func(o *registration.Options) {
				o.ConfigOf = map[string]registration.Values{"network": {"values": registration.Values{}}}
			},
			"config of network: values is not for here; there are valuesOverlays, rollout, uninstall, historyLimit",
		},
		"anything of admission": {
			func(o *registration.Options) { o.ConfigOf = map[string]registration.Values{"admission": {}} },
			"config of admission: there is no admission; there are infrastructure, controlplane, network, worker, infrastructure-secondary, controlplane-secondary, network-secondary, worker-secondary",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Generate(trellisCatalogue(t), options(c.change))
			assert.EqualError(t, err, c.want)
		})
	}
}

func mapping(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var result map[string]any
	require.NoError(t, yaml.UnmarshalStrict(document, &result))
	return result
}

// unknownFields are those that the operator would refuse. This module does not link its types, but can read what is written of them.
func unknownFields(t *testing.T, kind string, document map[string]any) []string {
	t.Helper()
	types := typesOfInstallation(t)
	require.Contains(t, types, kind)
	assert.Equal(t, []string{"ControllerDeploymentConfig.rollout.pause"},
		types.unknown("ControllerDeploymentConfig", kind, mapping(t, []byte("rollout: {pause: true, waves: [{name: a}]}"))), "it finds what is wrong")
	return types.unknown(kind, kind, document)
}

// writtenTypes has the JSON fields of structs with their types, by the names of the structs.
type writtenTypes map[string]map[string]string

func (w writtenTypes) unknown(path, typ string, value any) []string {
	var found []string
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			found = append(found, w.unknown(fmt.Sprintf("%s[%d]", path, i), typ, element)...)
		}
	case map[string]any:
		fields, known := w[typ]
		if !known {
			return nil // somebody else's type
		}
		for name, below := range v {
			if fieldType, ok := fields[name]; ok {
				found = append(found, w.unknown(path+"."+name, fieldType, below)...)
			} else {
				found = append(found, path+"."+name)
			}
		}
	}
	return found
}

func typesOfInstallation(t *testing.T) writtenTypes {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "apis", "installation", "v1alpha1", "types_config.go"), nil, 0)
	require.NoError(t, err)
	types := writtenTypes{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if written, ok := spec.Type.(*ast.StructType); ok {
			types[spec.Name.Name] = fieldsOf(written)
		}
		return true
	})
	return types
}

func fieldsOf(written *ast.StructType) map[string]string {
	fields := map[string]string{}
	for _, field := range written.Fields.List {
		name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		if name == "" { // TypeMeta
			fields["apiVersion"], fields["kind"] = "string", "string"
			continue
		}
		fields[name] = nameOf(field.Type)
	}
	return fields
}

// nameOf is the name of a type, of what a pointer points to, or of what a list consists of; nothing for one of another package.
func nameOf(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return nameOf(typ.X)
	case *ast.ArrayType:
		return nameOf(typ.Elt)
	case *ast.Ident:
		return typ.Name
	default:
		return ""
	}
}

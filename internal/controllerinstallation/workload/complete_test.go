package workload

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func completeInstallation(inject bool) Installation {
	installation := Installation{Name: "network-abcde", InjectGardenKubeconfig: inject, Seed: &gardencorev1beta1.Seed{}}
	installation.Seed.Name = "hill"
	return installation
}

func completeGarden() Garden {
	return Garden{Address: "https://garden.example.org", CABundle: []byte("bundle")}
}

func TestComplete(t *testing.T) {
	const (
		own   = "metadata: {name: one, namespace: extension-network-abcde}"
		spec  = "{containers: [{name: a}, {name: b, env: [{name: SEED_NAME, value: other}, {name: MINE, value: x}]}], initContainers: [{name: c}]}"
		after = `{containers: [
			{name: a, resources: {}, env: [{name: SEED_NAME, value: hill}]},
			{name: b, resources: {}, env: [{name: SEED_NAME, value: hill}, {name: MINE, value: x}]}],
			initContainers: [{name: c, resources: {}, env: [{name: SEED_NAME, value: hill}]}]}`
	)
	for sentence, test := range map[string]struct{ object, want string }{
		"a Deployment": {
			"{apiVersion: apps/v1, kind: Deployment, " + own + ", spec: {template: {spec: " + spec + "}}}",
			"{apiVersion: apps/v1, kind: Deployment, " + own + ", spec: {selector: null, strategy: {}, template: {metadata: {}, spec: " + after + "}}, status: {}}",
		},
		"an old StatefulSet": {
			"{apiVersion: apps/v1beta1, kind: StatefulSet, " + own + ", spec: {serviceName: x, template: {spec: " + spec + "}}}",
			"{apiVersion: apps/v1beta1, kind: StatefulSet, " + own + `,
				spec: {serviceName: x, template: {metadata: {}, spec: ` + after + "}, updateStrategy: {}}, status: {replicas: 0, availableReplicas: 0}}",
		},
		"a CronJob, without what nobody knows": {
			"{apiVersion: batch/v1, kind: CronJob, " + own + ", spec: {schedule: x, unknown: y, jobTemplate: {spec: {template: {spec: " + spec + "}}}}}",
			"{apiVersion: batch/v1, kind: CronJob, " + own + `,
				spec: {schedule: x, jobTemplate: {metadata: {}, spec: {template: {metadata: {}, spec: ` + after + "}}}}, status: {}}",
		},
		"not what is in another namespace": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: one, namespace: garden}, spec: {template: {spec: " + spec + "}}}", "",
		},
		"not what has no namespace": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: one}, spec: {template: {spec: " + spec + "}}}", "",
		},
		"not a Pod":           {"{apiVersion: v1, kind: Pod, " + own + ", spec: " + spec + "}", ""},
		"not a custom object": {"{apiVersion: example.org/v1, kind: Deployment, " + own + ", spec: {template: {spec: " + spec + "}}}", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			object, want := objectOf(t, test.object), objectOf(t, test.object)
			if test.want != "" {
				want = objectOf(t, test.want)
			}
			access, err := Complete(completeInstallation(false), Garden{}, []*unstructured.Unstructured{object})
			require.NoError(t, err)
			assert.False(t, access)
			assert.Empty(t, cmp.Diff(normal(want), normal(object)))
		})
	}
}

// normal is an object without distinction of the kinds of numbers.
func normal(object *unstructured.Unstructured) string {
	raw, err := manifestOf(object)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestComplete_GardenAccess(t *testing.T) {
	const kubeconfig = "generic-garden-kubeconfig-ec1de3c8"
	secret, err := kubeconfigSecret(completeInstallation(true), completeGarden())
	require.NoError(t, err)
	require.Equal(t, kubeconfig, secret.Name, "another name means other bytes")

	deployment := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: one, namespace: extension-network-abcde},
		spec: {template: {spec: {containers: [{name: a}], initContainers: [{name: b}], volumes: [{name: own, secret: {secretName: mine}}]}}}}`)
	access, err := Complete(completeInstallation(true), completeGarden(), []*unstructured.Unstructured{deployment})
	require.NoError(t, err)
	assert.True(t, access)

	annotations := map[string]any{
		references.AnnotationKey(references.KindSecret, kubeconfig):                kubeconfig,
		references.AnnotationKey(references.KindSecret, "garden-access-extension"): "garden-access-extension",
		references.AnnotationKey(references.KindSecret, "mine"):                    "mine",
	}
	const environment = `[{name: GARDEN_KUBECONFIG, value: /var/run/secrets/gardener.cloud/garden/generic-kubeconfig/kubeconfig}, {name: SEED_NAME, value: hill}]`
	const mounts = "[{name: garden-kubeconfig, mountPath: /var/run/secrets/gardener.cloud/garden/generic-kubeconfig, readOnly: true}]"
	want := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: one, namespace: extension-network-abcde},
		spec: {selector: null, strategy: {}, template: {metadata: {}, spec: {
			containers: [{name: a, resources: {}, env: `+environment+`, volumeMounts: `+mounts+`}],
			initContainers: [{name: b, resources: {}, env: `+environment+`, volumeMounts: `+mounts+`}],
			volumes: [{name: own, secret: {secretName: mine}}, {name: garden-kubeconfig, projected: {defaultMode: 420, sources: [
				{secret: {name: `+kubeconfig+`, optional: false, items: [{key: kubeconfig, path: kubeconfig}]}},
				{secret: {name: garden-access-extension, optional: false, items: [{key: token, path: token}]}}]}}]}}},
		status: {}}`)
	require.NoError(t, unstructured.SetNestedMap(want.Object, annotations, "metadata", "annotations"))
	require.NoError(t, unstructured.SetNestedMap(want.Object, annotations, "spec", "template", "metadata", "annotations"))
	assert.Empty(t, cmp.Diff(normal(want), normal(deployment)))
}

func TestNeedsGardenAccess(t *testing.T) {
	const label = ", labels: {extensions.gardener.cloud/inject-garden-kubeconfig: "
	workload := func(kind, metadata string) string {
		return "{apiVersion: " + kind + ", metadata: {name: one" + metadata + "}, spec: {template: {spec: {containers: [{name: a}]}}}}"
	}
	const inOwn = ", namespace: extension-network-abcde"
	for sentence, test := range map[string]struct {
		object           string
		access, injected bool
	}{
		"a Deployment":                   {workload("apps/v1, kind: Deployment", inOwn), true, true},
		"a Deployment that says so":      {workload("apps/v1, kind: Deployment", inOwn+label+"'true'}"), true, true},
		"a Deployment that has declined": {workload("apps/v1, kind: Deployment", inOwn+label+"'false'}"), false, false},
		"a Deployment that has mumbled":  {workload("apps/v1, kind: Deployment", inOwn+label+"'yes'}"), false, false},
		"a Deployment with its own kubeconfig": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: one` + inOwn + `},
				spec: {template: {spec: {containers: [{name: a}, {name: b, env: [{name: GARDEN_KUBECONFIG, value: mine}]}]}}}}`, true, false,
		},
		"a Deployment somewhere else": {workload("apps/v1, kind: Deployment", ", namespace: garden"), true, false},
		"a Job":                       {workload("batch/v1, kind: Job", inOwn), true, true},
		"a Pod":                       {"{apiVersion: v1, kind: Pod, metadata: {name: one" + inOwn + "}, spec: {containers: [{name: a}]}}", true, false},
		"a Service":                   {"{apiVersion: v1, kind: Service, metadata: {name: one" + inOwn + "}}", false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := objectOf(t, test.object)
			access, err := Complete(completeInstallation(true), completeGarden(), []*unstructured.Unstructured{object})
			require.NoError(t, err)
			assert.Equal(t, test.access, access)
			assert.Equal(t, test.injected, len(object.GetAnnotations()) > 0)
		})
	}
}

func TestComplete_Invalid(t *testing.T) {
	const own = "metadata: {name: one, namespace: extension-network-abcde}"
	for sentence, test := range map[string]struct{ object, want string }{
		"a workload without pods": {
			"{apiVersion: apps/v1, kind: ControllerRevision, " + own + "}",
			"ControllerRevision one cannot be given what Gardener gives to pods: unhandled object type *v1.ControllerRevision",
		},
		"a workload of the wrong shape": {
			"{apiVersion: apps/v1, kind: Deployment, " + own + ", spec: {replicas: two}}",
			"Deployment one cannot be given what Gardener gives to pods: ",
		},
		"a kind that there is not": {
			"{apiVersion: apps/v7, kind: Deployment, " + own + "}",
			`Deployment one cannot be given what Gardener gives to pods: no kind "Deployment" is registered for version "apps/v7"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Complete(completeInstallation(false), Garden{}, []*unstructured.Unstructured{objectOf(t, test.object)})
			found, ok := problem.In(err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, problem.ChartCannotBeRendered, found.Reason)
			assert.Contains(t, found.Message, test.want)
		})
	}
	_, err := Complete(completeInstallation(true), Garden{}, []*unstructured.Unstructured{
		objectOf(t, "{apiVersion: apps/v1, kind: Deployment, "+own+"}"),
	})
	assert.EqualError(t, err, "the garden's address is not known")
}

package main

import (
	"bytes"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

// gardenWith has a seed whose own provider wants three kinds, all registered by one extension.
func gardenWith(t *testing.T, more ...client.Object) client.Client {
	t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}}
	seed.Spec.Provider.Type = "openstack"
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "provider-openstack"}}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker"} {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: "openstack"})
	}
	scheme := runtime.NewScheme()
	require.NoError(t, landscape.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(more, seed, registration)...).Build()
}

func readyInstallation() *gardencorev1beta1.ControllerInstallation {
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "provider-openstack-abcde"}}
	installation.Spec.RegistrationRef.Name = "provider-openstack"
	installation.Spec.SeedRef = &corev1.ObjectReference{Name: "eu1"}
	installation.Status.Conditions = []gardencorev1beta1.Condition{
		{Type: "Installed", Status: "True"}, {Type: "Healthy", Status: "True"}, {Type: "Progressing", Status: "False"},
	}
	return installation
}

func unreadyInstallation() *gardencorev1beta1.ControllerInstallation {
	installation := readyInstallation()
	installation.Status.Conditions[2].Status = "True"
	return installation
}

func TestCheck_ExitCode(t *testing.T) {
	doubled := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}
	doubled.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "openstack"}}
	unserved := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "cat"}}
	unserved.Spec.SeedName = new("eu1")
	unserved.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "oidc"}}

	for sentence, c := range map[string]struct {
		more     []client.Object
		flags    checkFlags
		wantText string
		err      string
	}{
		"all is registered": {more: []client.Object{unreadyInstallation()}, wantText: "registered once. Not all of it is ready"},
		"all is registered, but not ready": {
			more: []client.Object{unreadyInstallation()}, flags: checkFlags{ready: true}, wantText: "rolling out", err: errFound.Error(),
		},
		"nothing is installed": {wantText: "registered once. Nothing is installed."},
		"all is ready":         {more: []client.Object{readyInstallation()}, flags: checkFlags{ready: true}, wantText: "registered once, and ready."},
		"one is missing":       {more: []client.Object{unserved}, wantText: "Extension/oidc is registered by nobody", err: errFound.Error()},
		"one is there twice":   {more: []client.Object{doubled}, wantText: "Worker/openstack has 2 primaries", err: errFound.Error()},
		"another seed":         {flags: checkFlags{seeds: []string{"us1"}}, err: "there is no seed us1 in this garden"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			garden, err := landscape.Read(t.Context(), gardenWith(t, c.more...))
			require.NoError(t, err)
			err = c.flags.inspect(garden, &out)
			if c.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, c.err)
			}
			assert.Contains(t, out.String(), c.wantText)
		})
	}
}

// plan is a landscape on paper: a seed elsewhere, with a shoot of what Trellis registers.
const plan = `
apiVersion: core.gardener.cloud/v1beta1
kind: Seed
metadata: {name: planned}
spec:
  provider: {type: openstack}
  dns: {internal: {type: designate, domain: internal.example.org}}
---
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: cat, namespace: garden-dev}
spec:
  seedName: planned
  provider: {type: openstack, workers: [{name: a, machine: {image: {name: gardenlinux}}}]}
  networking: {type: calico}
`

func TestCheck_Manifests(t *testing.T) {
	registrations, planned := "../../registrations", file(t, "plan.yaml", plan)
	got := command(t, "check", "--manifests", registrations, "--manifests", planned)
	assert.Equal(t, exitFailed, got.code)
	assert.Equal(t, `Seed planned (openstack, 1 shoot)

  KIND                   TYPE         SERVED BY                               WANTED BY
  ControlPlane           openstack    controlplane *                          the seed and shoot garden-dev/cat
                                      controlplane-secondary * (secondary)
  DNSRecord              designate    NOBODY                                  shoot garden-dev/cat
  Infrastructure         openstack    infrastructure *                        the seed and shoot garden-dev/cat
                                      infrastructure-secondary * (secondary)
  Network                calico       network *                               shoot garden-dev/cat
                                      network-secondary * (secondary)
  OperatingSystemConfig  gardenlinux  NOBODY                                  shoot garden-dev/cat
  Worker                 openstack    worker *                                the seed and shoot garden-dev/cat
                                      worker-secondary * (secondary)

  Problems:
  - DNSRecord/designate is registered by nobody: until it is, Gardener installs, updates and removes nothing on this seed; register an extension for it. Wanted by shoot garden-dev/cat
  - OperatingSystemConfig/gardenlinux is registered by nobody: until it is, Gardener installs, updates and removes nothing on this seed; register an extension for it. Wanted by shoot garden-dev/cat

* of Trellis
2 problems on 1 seed.
`, got.out)

	got = command(t, "check", "--manifests", planned, "--kubeconfig", "x")
	assert.Equal(t, result{exitUsage, "", "registrations check: --manifests stands for a virtual garden; leave out --kubeconfig and --context\n"}, got)
}

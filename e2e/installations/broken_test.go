package installations

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/registry"
)

// broken and enclosed are Seeds for failing installations, one with an operator in the garden, one with an operator in the seed. They share a
// cluster, and have no gardenlet.
const broken, enclosed = "broken", "enclosed"

// failureCase is an admin's error.
type failureCase struct {
	what string
	// edit changes a valid configuration. Without it, replace is written instead; empty for none.
	edit    func(map[string]any)
	replace string
	// messages are parts of the message: the field, and how to correct it.
	messages []string
}

// failureSeries is a registration with several errors of one kind after another.
type failureSeries struct {
	// reason is the reason of the condition Valid until the error is corrected.
	reason string
	older  bool // form of the ControllerDeployment
	cases  []failureCase
}

// testBroken registers what cannot be installed. The error and its correction are reported, and nothing is installed. After the correction the
// revision is installed, and stays installed when further errors are made.
func testBroken(t *testing.T, env *environment) {
	for name, series := range allFailureSeries(t, env) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.runFailureSeries(t, strings.ToLower(name), series)
		})
	}
	for _, part := range []part{
		{"TooLongAName", testTooLong},
		{"TooLarge", testTooLarge},
		{"RegistryIsDown", testRegistryDown},
		{"ResourceIsMissing", testResourceMissing},
		{"GivenUp", testGivenUp},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t, env)
		})
	}
}

func (env *environment) runFailureSeries(t *testing.T, name string, l failureSeries) {
	t.Helper()
	registration := everywhere(name, forBroken)
	first, more := l.cases[0], l.cases[1:]
	registration.Custom = l.custom(t, first, 0)
	require.NoError(t, env.Register(t.Context(), registration))
	for _, seedName := range []string{broken, enclosed} {
		env.assertNothingInstalled(t, env.invalid(t, seedName, name, l.reason, first))
	}
	env.fix(t, registration, l)
	before := map[string]map[string]string{}
	for _, seedName := range []string{broken, enclosed} {
		before[seedName] = snapshot(t, env.bare, env.installed(t, seedName, name))
	}
	for i, another := range append(more, first) {
		registration.Custom = l.custom(t, another, i+1)
		require.NoError(t, env.Deploy(t.Context(), registration))
		for _, seedName := range []string{broken, enclosed} {
			installation := env.invalid(t, seedName, name, l.reason, another)
			assert.Equal(t, before[seedName], snapshot(t, env.bare, installation), "%s: %s: what runs goes on running", seedName, another.what)
			assert.Contains(t, conditionOf(installation, gardencorev1beta1.ControllerInstallationValid).Message, "is kept")
		}
	}
	env.fix(t, registration, l)
}

// fix registers a valid revision, and waits until it is healthy.
func (env *environment) fix(t *testing.T, registration garden.Registration, l failureSeries) {
	t.Helper()
	registration.Custom = custom(t, withChart(t))
	registration.Custom.Older = l.older
	require.NoError(t, env.Deploy(t.Context(), registration))
	for _, seedName := range []string{broken, enclosed} {
		env.installed(t, seedName, registration.Name)
	}
}

// invalid waits until an installation is reported as invalid with the expected reason and message.
func (env *environment) invalid(t *testing.T, seedName, registration, reason string, m failureCase) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	installation := env.waitFor(t, seedName, registration, "is invalid, "+reason+", for "+m.what+", and says "+strings.Join(m.messages, ", "),
		func(i *gardencorev1beta1.ControllerInstallation) bool {
			valid := conditionOf(i, gardencorev1beta1.ControllerInstallationValid)
			return valid.Status == gardencorev1beta1.ConditionFalse && valid.Reason == reason &&
				!slices.ContainsFunc(m.messages, func(part string) bool { return !strings.Contains(valid.Message, part) })
		})
	t.Logf("%s, %s: %s", m.what, seedName, conditionOf(installation, gardencorev1beta1.ControllerInstallationValid).Message)
	if status := statusOf(t, installation); assert.NotNil(t, status.LastError, seedName) {
		assert.Equal(t, reason, status.LastError.Reason, seedName)
	}
	return installation
}

func (env *environment) assertNothingInstalled(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	assertGone(t, env.bare, ownedObjects(t, env.bare, installation))
	assert.Empty(t, secretsAbout(t, env.bare, installation))
	assert.Empty(t, statusOf(t, installation).Revision)
	assert.NotEqual(t, gardencorev1beta1.ConditionTrue, conditionOf(installation, gardencorev1beta1.ControllerInstallationInstalled).Status)
}

func withChart(t *testing.T) *installationv1alpha1.ControllerDeploymentConfig {
	t.Helper()
	config := newConfig()
	config.Chart = workloadChart(t)
	return config
}

// custom is an admin's nth erroneous configuration. Each is another revision: a failed one is not tried again.
func (l failureSeries) custom(t *testing.T, m failureCase, nth int) *garden.Custom {
	t.Helper()
	made := custom(t, withChart(t))
	made.Older = l.older
	if m.edit == nil {
		made.Config = nil
		if m.replace != "" {
			made.Config = json.RawMessage(m.replace)
		}
		return made
	}
	config := map[string]any{}
	require.NoError(t, json.Unmarshal(made.Config, &config))
	mapIn(config, "values")["attempt"] = nth
	m.edit(config)
	var err error
	made.Config, err = json.Marshal(config)
	require.NoError(t, err)
	return made
}

// testTooLong registers names from which no namespace can be made. Gardener's API server accepts them, and gardener-controller-manager requests
// installations.
func testTooLong(t *testing.T, env *environment) {
	for _, length := range []int{48, 63} {
		registration := everywhere(strings.Repeat("n", length), forBroken)
		registration.Custom = custom(t, withChart(t))
		require.NoError(t, env.Register(t.Context(), registration))
		for _, seedName := range []string{broken, enclosed} {
			installation := env.invalid(t, seedName, registration.Name, "NameTooLong", failureCase{
				what: "its name", messages: []string{"namespace", "63", registration.Name, "47"},
			})
			// No namespace of that name can be read, either.
			managed := managedResourceOf(installation)
			assert.False(t, exists(t, env.bare.Client, managed))
			assert.Empty(t, secretsAbout(t, env.bare, installation))
		}
	}
	longest := everywhere(strings.Repeat("l", 47), forBroken)
	longest.Custom = custom(t, withChart(t))
	require.NoError(t, env.Register(t.Context(), longest))
	for _, seedName := range []string{broken, enclosed} {
		env.installed(t, seedName, longest.Name)
	}
}

// testGivenUp registers what cannot be installed, and then changes its type to gardenlet's: the operators leave nothing at installations that were
// never installed.
func testGivenUp(t *testing.T, env *environment) {
	registration := everywhere("given-up", forBroken)
	config := withChart(t)
	config.Chart = []byte("no archive")
	registration.Custom = custom(t, config)
	require.NoError(t, env.Register(t.Context(), registration))
	for _, seedName := range []string{broken, enclosed} {
		env.invalid(t, seedName, registration.Name, "ChartInformationInvalid", failureCase{what: "its chart", messages: []string{"chart"}})
	}
	registration.Custom, registration.Chart = nil, workloadChart(t)
	require.NoError(t, env.Deploy(t.Context(), registration))
	for _, seedName := range []string{broken, enclosed} {
		env.waitFor(t, seedName, registration.Name, "bears no marks any more", func(i *gardencorev1beta1.ControllerInstallation) bool {
			_, isAssigned := i.Annotations[installationv1alpha1.AnnotationRevision]
			return i.Status.ProviderStatus == nil && !isAssigned && !slices.Contains(i.Finalizers, ourFinalizer)
		})
	}
}

// testTooLarge registers a chart that is too large for a revision. An operator in a seed keeps none.
func testTooLarge(t *testing.T, env *environment) {
	registration := everywhere("too-large", forBroken)
	digest, err := env.registry.Push("charts/large", "v1", incompressible(t))
	require.NoError(t, err)
	config := newConfig()
	config.OCIRepository = &installationv1alpha1.OCIRepository{
		Ref:           env.registry.Address() + "/charts/large@" + digest,
		PullSecretRef: &corev1.LocalObjectReference{Name: pullSecret}, CABundleSecretRef: &corev1.LocalObjectReference{Name: bundleSecret},
	}
	registration.Custom = custom(t, config)
	require.NoError(t, env.Register(t.Context(), registration))
	installation := env.invalid(t, broken, registration.Name, "ChartTooLarge", failureCase{what: "its size", messages: []string{"chart", "leave out"}})
	env.assertNothingInstalled(t, installation)
	env.installed(t, enclosed, registration.Name)
}

// testRegistryDown is no error of the user: the state is unknown until the registry is back. What is installed does not depend on it the next time.
func testRegistryDown(t *testing.T, env *environment) {
	down, err := registry.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, down.Close()) })
	registration := everywhere("registry-is-down", forBroken)
	config := newConfig()
	config.OCIRepository = &installationv1alpha1.OCIRepository{
		Ref: "oci://" + down.Address() + "/charts/workload:v1", CABundleSecretRef: &corev1.LocalObjectReference{Name: "down-authority"},
	}
	for _, namespace := range []string{"garden", "seed-" + enclosed} {
		require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "down-authority", Namespace: namespace}, Data: map[string][]byte{"bundle.crt": down.CABundle()},
		}))
	}
	_, err = down.Push("charts/workload", "v1", workloadChart(t))
	require.NoError(t, err)
	down.SetFault(registry.Fault{Status: 503})
	registration.Custom = custom(t, config)
	require.NoError(t, env.Register(t.Context(), registration))
	for _, seedName := range []string{broken, enclosed} {
		installation := env.waitFor(t, seedName, registration.Name, "is neither valid nor invalid", func(i *gardencorev1beta1.ControllerInstallation) bool {
			valid := conditionOf(i, gardencorev1beta1.ControllerInstallationValid)
			return valid.Status == gardencorev1beta1.ConditionUnknown && valid.Reason == "RegistryUnreachable"
		})
		assert.Contains(t, conditionOf(installation, gardencorev1beta1.ControllerInstallationValid).Message, down.Address())
		env.assertNothingInstalled(t, installation)
	}
	down.ClearFault()
	for _, seedName := range []string{broken, enclosed} {
		env.installed(t, seedName, registration.Name)
	}
	down.SetFault(registry.Fault{Status: 503})
	requestsBefore := len(down.Requests())
	config.Values = rawOf(t, map[string]any{"image": "second"})
	registration.Custom = custom(t, config)
	require.NoError(t, env.Deploy(t.Context(), registration))
	eventually(t, "both operators have asked the registry in vain", func() bool { return len(down.Requests()) > requestsBefore+1 }, func() any { return requestsBefore })
	for _, seedName := range []string{broken, enclosed} {
		installation := env.installation(t, seedName, registration.Name)
		assert.True(t, isReady(installation), "%s: what runs is well", seedName)
	}
	down.ClearFault()
	for _, seedName := range []string{broken, enclosed} {
		env.waitFor(t, seedName, registration.Name, "has the new values", func(i *gardencorev1beta1.ControllerInstallation) bool {
			configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config", Namespace: namespaceOf(i).Name}}
			return exists(t, env.bare.Client, configMap) && configMap.Data["image"] == "second"
		})
	}
}

// testResourceMissing uses a seed of its own: while a resource is missing, gardener-controller-manager does nothing else for a seed.
func testResourceMissing(t *testing.T, env *environment) {
	const name, label = "resource-is-missing", "for-missing"
	_, err := env.AddSeed(t.Context(), "missing", garden.SeedOptions{Provider: "local", Labels: map[string]string{label: "true", servedBy: broken}})
	require.NoError(t, err)
	env.access(t, "missing", env.bare)
	registration := everywhere(name, label)
	registration.References = namedReferences()[:1]
	registration.References[0].ResourceRef.Name = "missing"
	config := withChart(t)
	config.Values = rawOf(t, map[string]any{"image": "{{ .resources.config.data.word }}"})
	registration.Custom = custom(t, config)
	resource := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "missing", Namespace: "garden"}, Data: map[string]string{"word": "found"}}
	require.NoError(t, env.Client.Create(t.Context(), resource))
	require.NoError(t, env.Register(t.Context(), registration))
	installation := env.invalid(t, "missing", name, "RenderingHelmValuesFailed", failureCase{
		what: "a resource that is not for it", messages: []string{"resources[config]", "ConfigMap missing", "gardener.cloud/role=resource-reference"},
	})
	env.assertNothingInstalled(t, installation)
	require.NoError(t, env.Client.Delete(t.Context(), resource))
	env.waitFor(t, "missing", name, "misses it altogether", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return strings.Contains(conditionOf(i, gardencorev1beta1.ControllerInstallationValid).Message, "does not exist")
	})
	resource.ResourceVersion, resource.Labels = "", map[string]string{"gardener.cloud/role": "resource-reference"}
	require.NoError(t, env.Client.Create(t.Context(), resource))
	env.installed(t, "missing", name)
}

package calico

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMultusIsThereForThoseWhoAskForItAlone(t *testing.T) {
	eachOfMany(t, func(t *testing.T, s *settings, objects []client.Object) {
		found := strings.Contains(manifest(t, objects), "multus")
		require.Equal(t, s.config.Multus.Enabled, found)
	})
	require.False(t, testSettings(nil).config.Multus.Enabled, "the default")
}

func TestMultusBringsPluginsForThoseWhoAskForThemAlone(t *testing.T) {
	for sentence, test := range map[string]struct {
		install *bool
		want    []string
	}{
		"not said": {nil, []string{"install-multus-cni"}},
		"no":       {new(false), []string{"install-multus-cni"}},
		"yes":      {new(true), []string{"install-multus-cni", "install-cni-plugins"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := testSettings(func(s *settings) {
				withMultus(s)
				s.config.Multus.InstallCNIPlugins = test.install
			}).multusObjects()
			require.NoError(t, err)
			var steps []string
			for _, container := range named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.InitContainers {
				steps = append(steps, container.Name)
			}
			require.Equal(t, test.want, steps)
		})
	}
}

func TestMultusLeavesNoConfigurationBehind(t *testing.T) {
	objects, err := testSettings(withMultus).multusObjects()
	require.NoError(t, err)
	pod := named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec
	require.Contains(t, pod.Containers[0].Args, "--cleanup-config-on-exit")
	require.Positive(t, *pod.TerminationGracePeriodSeconds, "who is killed at once does not clean up")
}

func TestMultusWaitsForCalico(t *testing.T) {
	objects, err := testSettings(withMultus).multusObjects()
	require.NoError(t, err)
	args := named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.Containers[0].Args
	require.Contains(t, args, "--readiness-indicator-file=/etc/cni/net.d/10-calico.conflist")
	require.Contains(t, args, "--multus-master-cni-file-name=10-calico.conflist")
}

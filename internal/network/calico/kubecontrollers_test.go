package calico

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestKubeControllers_WhenDeployed(t *testing.T) {
	for sentence, test := range map[string]struct {
		backend, ipam string
		want          bool
	}{
		"BIRD":                             {"bird", "host-local", true},
		"VXLAN":                            {"vxlan", "calico-ipam", true},
		"nobody makes routes, as upstream": {"none", "host-local", false},
		"nobody would give blocks of addresses back": {"none", "calico-ipam", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects := mustOtherObjects(t, testSettings(func(s *settings) { s.form.Backend, s.form.IPAM = test.backend, test.ipam }))
			var found []client.Object
			for _, object := range objects {
				if object.GetName() == "calico-kube-controllers" {
					found = append(found, object)
				}
			}
			if !test.want {
				require.Empty(t, found)
				return
			}
			// ServiceAccount, Deployment, PodDisruptionBudget, ClusterRole, its binding, VerticalPodAutoscaler.
			require.Len(t, found, 6)
			require.Equal(t, appsv1.RecreateDeploymentStrategyType, named[*appsv1.Deployment](t, found, "calico-kube-controllers").Spec.Strategy.Type)
			named[*policyv1.PodDisruptionBudget](t, found, "calico-kube-controllers")
			named[*vpaautoscalingv1.VerticalPodAutoscaler](t, found, "calico-kube-controllers")
		})
	}
}

func TestKubeControllers_HealthEnabled(t *testing.T) {
	deployment := named[*appsv1.Deployment](t, mustOtherObjects(t, testSettings(nil)), "calico-kube-controllers")
	require.Equal(t, "true", valueOf(deployment.Spec.Template.Spec.Containers[0].Env, "HEALTH_ENABLED"))
}

package openstack

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

func TestDriver_TuneNodeRanges(t *testing.T) {
	const ipv4, ipv6 = gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	// What gardenlet v1.149.3 renders while a shoot of IPv4 becomes dual-stack.
	migrating := []string{"kube-controller-manager", "--node-cidr-mask-size=64", "--cluster-cidr=100.96.0.0/11"}
	both := []string{"kube-controller-manager", "--node-cidr-mask-size-ipv4=24", "--node-cidr-mask-size-ipv6=64", "--cluster-cidr=100.96.0.0/11,2001:db8::/56"}
	for sentence, test := range map[string]struct {
		families []gardencorev1beta1.IPFamily
		pods     []string
		before   []string
		want     []string
	}{
		"a shoot that becomes dual-stack": {
			[]gardencorev1beta1.IPFamily{ipv4, ipv6},
			[]string{"100.96.0.0/11", "2001:db8::/56"},
			migrating,
			[]string{"kube-controller-manager", "--cluster-cidr=100.96.0.0/11,2001:db8::/56", "--node-cidr-mask-size-ipv4=24", "--node-cidr-mask-size-ipv6=64"},
		},
		"a dual-stack shoot": {[]gardencorev1beta1.IPFamily{ipv4, ipv6}, []string{"100.96.0.0/11", "2001:db8::/56"}, both, both},
		"the families in their order": {
			[]gardencorev1beta1.IPFamily{ipv6, ipv4},
			[]string{"100.96.0.0/11", "2001:db8::/56"},
			both,
			[]string{"kube-controller-manager", "--node-cidr-mask-size-ipv4=24", "--node-cidr-mask-size-ipv6=64", "--cluster-cidr=2001:db8::/56,100.96.0.0/11"},
		},
		"a range that is not known yet": {[]gardencorev1beta1.IPFamily{ipv4, ipv6}, []string{"100.96.0.0/11"}, migrating, migrating},
		"a shoot with one family":       {[]gardencorev1beta1.IPFamily{ipv4}, []string{"100.96.0.0/11", "2001:db8::/56"}, migrating, migrating},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: test.families}
			shoot.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{
				NodeCIDRMaskSize: new(int32(24)), NodeCIDRMaskSizeIPv6: new(int32(64)),
			}
			shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Pods: test.pods}
			tuned, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.ControlPlane, Cluster: &contract.Cluster{Shoot: shoot}})
			require.NoError(t, err)
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "kube-controller-manager"}}
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: deployment.Name, Command: test.before}}
			for range 2 {
				require.NoError(t, tuning.TuneKubeControllerManager(deployment, tuned.KubeControllerManager))
				got := slices.DeleteFunc(slices.Clone(deployment.Spec.Template.Spec.Containers[0].Command), func(argument string) bool {
					return argument == "--cloud-provider=external" // which every shoot has
				})
				assert.Equal(t, test.want, got)
			}
		})
	}
}

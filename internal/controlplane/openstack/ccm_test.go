package openstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/golden"
)

func ccmInputs(kubernetesVersion string, routesPods bool) *inputs {
	return &inputs{
		config: &openstackv1alpha1.ControlPlaneConfig{},
		credentials: auth.Credentials{
			Username: "gardener", Password: "secret", DomainName: "default", TenantName: "garden",
		},
		technicalID: "shoot--dev--one", clusterName: "shoot--dev--one", region: "RegionOne",
		kubernetesVersion: kubernetesVersion, routesPods: routesPods, podRanges: []string{"100.96.0.0/11"},
	}
}

func ccmValues(t *testing.T, kubernetesVersion string) component.Values {
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	return component.Values{
		Namespace:         "shoot--dev--one",
		GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d",
		Secrets: map[string]string{
			"cloud-provider-config": "cloud-provider-config-1a2b3c4d", "cloud-controller-manager-server": "cloud-controller-manager-server-2b3c4d5e",
			"cloud-controller-manager-server/ca": "ca-provider-openstack-controlplane-bundle-3c4d5e6f",
		},
		Image: controlplane.ImagesFor(images, kubernetesVersion),
	}
}

func TestCloudControllerManager(t *testing.T) {
	folder := golden.Open(t, "testdata/ccm")
	for minor, version := range kubernetesVersions() {
		for name, routesPods := range map[string]bool{"overlay": false, "routes": true} {
			objects, err := component.Objects(ccmInputs(version, routesPods).cloudControllerManager(), ccmValues(t, version))
			require.NoError(t, err)
			checkVersion(t, folder, minor, name, objects)
		}
	}
}

func TestCloudControllerManager_Flags(t *testing.T) {
	for sentence, test := range map[string]struct {
		change        func(*inputs)
		want, wantNot []string
	}{
		"nothing special": {
			change:  func(*inputs) {},
			want:    []string{"--cluster-name=shoot--dev--one", "--user-agent=default", "--user-agent=garden", "--user-agent=shoot--dev--one"},
			wantNot: []string{"--feature-gates", "--use-service-account-credentials"},
		},
		"feature gates are sorted": {
			change: func(in *inputs) {
				in.config.CloudControllerManager = &openstackv1alpha1.CloudControllerManagerConfig{
					FeatureGates: map[string]bool{"CloudControllerManagerWebhook": false, "AllBeta": true, "AllAlpha": false},
				}
			},
			want: []string{"--feature-gates=AllAlpha=false,AllBeta=true,CloudControllerManagerWebhook=false"},
		},
		"feature gates that the version has not, or has locked, are left out": {
			change: func(in *inputs) {
				in.kubernetesVersion = "1.34.2"
				in.config.CloudControllerManager = &openstackv1alpha1.CloudControllerManagerConfig{FeatureGates: map[string]bool{
					"CloudControllerManagerWatchBasedRoutesReconciliation": true, "TopologyAwareHints": false, "Zebra": true, "AllBeta": true,
				}}
			},
			want:    []string{"--feature-gates=AllBeta=true"},
			wantNot: []string{"Zebra", "TopologyAwareHints", "WatchBasedRoutes"},
		},
		"pods that are routed natively need routes": {
			change:  func(in *inputs) { in.routesPods = true },
			want:    []string{"--configure-cloud-routes=true", "--allocate-node-cidrs=true", "--cluster-cidr=100.96.0.0/11"},
			wantNot: []string{"--configure-cloud-routes=false"},
		},
		"ranges of both families": {
			change: func(in *inputs) { in.routesPods, in.podRanges = true, []string{"100.96.0.0/11", "2001:db8::/56"} },
			want:   []string{"--cluster-cidr=100.96.0.0/11,2001:db8::/56"},
		},
		"an overlay network needs no routes": {
			change:  func(in *inputs) { in.routesPods = false },
			want:    []string{"--configure-cloud-routes=false"},
			wantNot: []string{"--allocate-node-cidrs", "--cluster-cidr"},
		},
		"a shoot whose name in the cloud is not its namespace": {
			change:  func(in *inputs) { in.technicalID, in.clusterName = "shoot--dev--self", "kube-system" },
			want:    []string{"--cluster-name=kube-system", "--user-agent=shoot--dev--self"},
			wantNot: []string{"--user-agent=kube-system"},
		},
		"an application credential that leaves open where it belongs": {
			change: func(in *inputs) {
				in.credentials = auth.Credentials{ApplicationCredentialID: "a", ApplicationCredentialSecret: "b"}
			},
			want:    []string{"--user-agent=shoot--dev--one"},
			wantNot: []string{"--user-agent=\n"},
		},
		"domain and project by ID": {
			change: func(in *inputs) {
				in.credentials = auth.Credentials{DomainID: "d1", TenantID: "t1", Username: "u", Password: "p"}
			},
			want: []string{"--user-agent=d1", "--user-agent=t1"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := ccmInputs("1.36.3", false)
			test.change(in)
			flags := strings.Join(in.cloudControllerManager().Containers[0].Args, "\n") + "\n"
			for _, want := range test.want {
				assert.Contains(t, flags, want+"\n")
			}
			for _, wantNot := range test.wantNot {
				assert.NotContains(t, flags, wantNot)
			}
		})
	}
}

func TestCCMRBAC(t *testing.T) {
	folder := golden.Open(t, "testdata/ccmrbac")
	folder.Check(t, "rbac.yaml", golden.Manifest(t, ccmRBAC()))
	folder.Check(t, "retired.yaml", golden.Manifest(t, []client.Object{retiredBinding()}))
}

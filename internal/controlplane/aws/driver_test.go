package aws

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/definitions"
	"github.com/trellis-garden/trellis/internal/golden"
)

// seedObjects renders all components of a plan as the contract does.
func seedObjects(t *testing.T, plan *controlplane.Plan, image func(string) (string, error)) []client.Object {
	t.Helper()
	secrets := map[string]string{}
	for _, config := range plan.Configs {
		secrets[config.Name] = config.Name + "-1a2b3c4d"
	}
	for _, certificate := range plan.Certificates {
		secrets[certificate.Name] = certificate.Name + "-2b3c4d5e"
		secrets[component.CABundleOf(certificate.Name)] = "ca-provider-aws-controlplane-bundle-3c4d5e6f"
	}
	components := slices.Concat(plan.Components, []component.Component{csi.SnapshotController()})
	for _, driver := range plan.CSIDrivers {
		if driver.ShootController == nil {
			components = append(components, driver.Component())
		}
	}
	var objects []client.Object
	for _, each := range components {
		rendered, err := component.Objects(each, component.Values{
			Namespace: namespace, GenericKubeconfig: "generic-token-kubeconfig-0a1b2c3d", Image: image, Secrets: secrets,
		})
		require.NoError(t, err)
		objects = append(objects, rendered...)
	}
	return objects
}

func shootObjects(t *testing.T, plan *controlplane.Plan, image func(string) (string, error)) []client.Object {
	t.Helper()
	rendered, err := csi.ShootObjects(plan.CSIDrivers, csi.Shoot{Image: image, VerticalPodAutoscaler: true})
	require.NoError(t, err)
	return slices.Concat(plan.ShootObjects, rendered)
}

func findImages(t *testing.T, kubernetesVersion string) func(string) (string, error) {
	t.Helper()
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	return controlplane.ImagesFor(images, kubernetesVersion)
}

func TestDriver_Plan(t *testing.T) {
	folder := golden.Open(t, "testdata/plan")
	for _, test := range []struct {
		name   string
		change func(*controlplane.Shoot)
	}{
		{"routes", func(*controlplane.Shoot) {}},
		{"dualstack", dualStack},
	} {
		for _, minor := range []string{"1.36", "1.32"} {
			image := findImages(t, minor+".3")
			plan := planOf(t, awsShoot(test.change, withKubernetes(minor+".3")))
			for part, objects := range map[string][]client.Object{"seed": seedObjects(t, plan, image), "shoot": shootObjects(t, plan, image)} {
				file, text := minor+"-"+test.name+"-"+part, golden.Manifest(t, objects)
				if minor == "1.36" {
					folder.Check(t, file+".yaml", text)
				} else {
					folder.CheckDiff(t, file+".diff", "1.36-"+test.name+"-"+part+".yaml", text)
				}
			}
		}
	}
	plan := planOf(t, awsShoot())
	folder.Check(t, "classes.yaml", golden.Manifest(t, csi.Classes(plan.StorageClasses, plan.SnapshotClasses)))
	folder.Check(t, "retired.yaml", golden.Manifest(t, plan.Retired))
	assert.Equal(t, []string{"aws-custom-route-controller", "aws-ipam-controller", "aws-load-balancer-controller"}, plan.RetiredAccess)
}

func TestDriver_Plan_Webhooks(t *testing.T) {
	plan := planOf(t, awsShoot(dualStack))
	require.Len(t, plan.ShootWebhooks, 2)
	golden.Open(t, "testdata/webhooks").Check(t, "webhooks.txt", golden.Manifest(t, plan.ShootWebhooks))
	require.Len(t, plan.CRDs, 2)
	for _, encoded := range plan.CRDs {
		definition := &unstructured.Unstructured{}
		require.NoError(t, json.Unmarshal(encoded.(*definitions.Encoded).Manifest, &definition.Object))
		assert.Equal(t, "true", definition.GetAnnotations()["resources.gardener.cloud/keep-object"], "its objects have finalizers")
	}
}

// The selectors cannot be changed, and volumes, snapshots and users of the shoot know the other names.
func TestDriver_Plan_UpstreamNames(t *testing.T) {
	plan := planOf(t, awsShoot(dualStack))
	selectors := map[string]map[string]string{}
	for _, object := range seedObjects(t, plan, findImages(t, "1.36.3")) {
		if deployment, is := object.(*appsv1.Deployment); is {
			selectors[deployment.Name] = deployment.Spec.Selector.MatchLabels
		}
	}
	assert.Equal(t, map[string]map[string]string{
		"cloud-controller-manager":     {"app": "kubernetes", "role": "cloud-controller-manager"},
		"aws-custom-route-controller":  {"app": "kubernetes", "role": "aws-custom-route-controller", "clusterrole": "aws-custom-route-controller"},
		"aws-ipam-controller":          {"app": "kubernetes", "role": "aws-ipam-controller"},
		"aws-load-balancer-controller": {"app.kubernetes.io/name": "aws-load-balancer-controller", "app.kubernetes.io/instance": "seed-controlplane"},
		"csi-driver-controller":        {"app": "csi", "role": "controller"},
		"csi-snapshot-controller":      {"app": "csi-snapshot-controller", "role": "controller"},
	}, selectors)
}

func TestDriver_Plan_Components(t *testing.T) {
	always := []string{"cloud-controller-manager"}
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for sentence, test := range map[string]struct {
		change func(*controlplane.Shoot)
		want   []string
	}{
		"pods in an overlay need no routes": {withConfig(""), always},
		"pods that are routed natively do":  {func(*controlplane.Shoot) {}, append(slices.Clone(always), "aws-custom-route-controller")},
		"both families need ranges, too":    {withFamilies(ipv4, ipv6), append(slices.Clone(always), "aws-custom-route-controller", "aws-ipam-controller")},
		"IPv6 alone needs no routes":        {withFamilies(ipv6), append(slices.Clone(always), "aws-ipam-controller")},
		"nodes with IPv6 that is not used yet need ranges from one source": {
			func(shoot *controlplane.Shoot) {
				shoot.Cluster.Shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"2001:db8::/56"}}
			},
			append(slices.Clone(always), "aws-custom-route-controller", "aws-ipam-controller"),
		},
		"the load balancer controller is enabled": {withConfig(`,"loadBalancerController":{"enabled":true}`), append(slices.Clone(always), "aws-load-balancer-controller")},
		"and disabled": {withConfig(`,"loadBalancerController":{"enabled":false}`), always},
	} {
		t.Run(sentence, func(t *testing.T) {
			var names []string
			for _, each := range planOf(t, awsShoot(test.change)).Components {
				names = append(names, each.Name)
			}
			assert.Equal(t, test.want, names)
		})
	}
}

func TestDriver_Plan_NativeRouting(t *testing.T) {
	has := func(plan *controlplane.Plan) bool {
		return slices.ContainsFunc(plan.ShootObjects, func(object client.Object) bool { return object.GetName() == "block-calico-network-unavailable" })
	}
	plan := planOf(t, awsShoot())
	assert.True(t, has(plan))
	assert.Equal(t, []controlplane.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Reasons: []string{"CalicoIsUp", "CalicoIsDown"}}}, plan.StaleNodeConditions)
	plan = planOf(t, awsShoot(withConfig("")))
	assert.False(t, has(plan), "without a route controller Calico alone reports the network")
	assert.Empty(t, plan.StaleNodeConditions)
}

func TestDriver_Plan_Messages(t *testing.T) {
	gates := withConfig(`,"cloudControllerManager":{"useCustomRouteController":true,"featureGates":{"AllBeta":true,"Zebra":true}}`)
	plan := planOf(t, awsShoot(gates))
	assert.Equal(t, []string{"feature gates Zebra are left out: Kubernetes 1.36.3 does not have them, or has locked them; " +
		"remove them from cloudControllerManager.featureGates"}, plan.Messages)
	assert.Contains(t, plan.Components[0].Containers[0].Args, "--feature-gates=AllBeta=true")
	assert.NotEmpty(t, New().Validate(awsShoot(gates, func(shoot *controlplane.Shoot) { shoot.New = true })), "a new shoot has to correct it")
}

// What a new shoot could not be created with is reported of one that lives.
func TestDriver_Families(t *testing.T) {
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	overlay := func(shoot *controlplane.Shoot) { shoot.Cluster.Shoot.Spec.Networking.ProviderConfig = nil }
	const (
		balancers = "loadBalancerController.enabled: set it to true: without the aws-load-balancer-controller no Service of the type LoadBalancer gets an address of IPv6"
		routes    = "cloudControllerManager.useCustomRouteController: set it to true, unless somebody else programs routes to the pods of each node"
	)
	for sentence, test := range map[string]struct {
		changes          []func(*controlplane.Shoot)
		errors, messages []string
	}{
		"both families with all that they need": {[]func(*controlplane.Shoot){dualStack}, nil, nil},
		"IPv6 without the load balancer controller": {
			[]func(*controlplane.Shoot){dualStack, withFamilies(ipv6), withConfig("")}, []string{"spec.providerConfig.loadBalancerController.enabled: Required value"}, []string{balancers},
		},
		"IPv6 with an overlay": {
			[]func(*controlplane.Shoot){dualStack, overlay}, []string{"shoot.spec.networking.providerConfig.overlay.enabled: Required value: set it to false"}, nil,
		},
		"IPv4 with an overlay":                   {[]func(*controlplane.Shoot){overlay, withConfig("")}, nil, nil},
		"IPv4 without an overlay and routes":     {[]func(*controlplane.Shoot){withConfig("")}, nil, []string{routes}},
		"IPv6 alone has no routes to program":    {[]func(*controlplane.Shoot){dualStack, withFamilies(ipv6)}, nil, nil},
		"IPv4 with the load balancer controller": {[]func(*controlplane.Shoot){dualStack, withFamilies(ipv4)}, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			isNew := func(shoot *controlplane.Shoot) { shoot.New = true }
			errs := New().Validate(awsShoot(append(slices.Clone(test.changes), isNew)...))
			require.Len(t, errs, len(test.errors), "%v", errs)
			for i, want := range test.errors {
				assert.ErrorContains(t, errs[i], want)
			}
			messages := planOf(t, awsShoot(test.changes...)).Messages
			require.Len(t, messages, len(test.messages), "%q", messages)
			for i, want := range test.messages {
				assert.Contains(t, messages[i], want)
			}
		})
	}
}

func TestDriver_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*controlplane.Shoot)
		want   string
	}{
		"an unknown field": {
			withConfig(`,"zone":"a"`), `spec.providerConfig: Invalid value: decoding ControlPlaneConfig: unknown field "zone"`,
		},
		"no credentials": {
			func(shoot *controlplane.Shoot) { shoot.Credentials = nil }, `spec.secretRef: Invalid value: the AWS credentials cannot be used: they say nobody`,
		},
		"an overlay that cannot be read": {
			func(shoot *controlplane.Shoot) {
				shoot.Cluster.Shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":7}`)}
			},
			"shoot.spec.networking.providerConfig: Invalid value: reading spec.networking.providerConfig of type calico",
		},
		"an ingress class that is no name": {
			func(shoot *controlplane.Shoot) {
				shoot.New = true
				withConfig(`,"loadBalancerController":{"enabled":true,"ingressClassName":"A B"}`)(shoot)
			},
			"spec.providerConfig.loadBalancerController.ingressClassName: Invalid value",
		},
		"a limit of volumes that is no number": {
			withAnnotation("aws.provider.extensions.gardener.cloud/volume-attach-limit", "many"),
			`shoot.metadata.annotations[aws.provider.extensions.gardener.cloud/volume-attach-limit]: Invalid value: "many": give a number of volumes`,
		},
		"a switch that is neither on nor off": {
			withAnnotation("aws.provider.extensions.gardener.cloud/legacy-xfs", "--v=9"),
			`shoot.metadata.annotations[aws.provider.extensions.gardener.cloud/legacy-xfs]: Invalid value: "--v=9": give "true" or "false"`,
		},
		"routes for pods without a range": {
			func(shoot *controlplane.Shoot) { shoot.PodRanges = nil }, "shoot.spec.networking.pods: Required value: give the range of the pods",
		},
		"a range of pods that is none": {
			func(shoot *controlplane.Shoot) { shoot.PodRanges = []string{"100.96.0.0"} }, `shoot.spec.networking.pods: Invalid value: "100.96.0.0": give a range`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := New().Validate(awsShoot(test.change))
			require.Len(t, errs, 1)
			assert.ErrorContains(t, errs[0], test.want)
		})
	}
}

func TestDriver_Plan_IncompleteInfrastructureStatus(t *testing.T) {
	for sentence, status := range map[string]*runtime.RawExtension{
		"missing":                nil,
		"without a VPC":          document("InfrastructureStatus", ""),
		"without subnets":        infrastructureStatus("", ""),
		"that cannot be decoded": document("Other", ""),
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := awsShoot(func(shoot *controlplane.Shoot) { shoot.ControlPlane.Spec.InfrastructureProviderStatus = status })
			assert.Empty(t, New().Validate(shoot), "users cannot correct it")
			_, err := New().Plan(shoot)
			assert.ErrorIs(t, err, controlplane.ErrInfrastructureIncomplete)
		})
	}
}

func TestDriver_Plan_InvalidConfiguration(t *testing.T) {
	_, err := New().Plan(awsShoot(withConfig(`,"zone":"a"`)))
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}

func TestDriver_Plan_NodeSettings(t *testing.T) {
	plan := planOf(t, awsShoot(
		withAnnotation("aws.provider.extensions.gardener.cloud/volume-attach-limit", "25"),
		withAnnotation("aws.provider.extensions.gardener.cloud/reserved-volume-attachments", "-1"),
		withAnnotation("aws.provider.extensions.gardener.cloud/legacy-xfs", "true"),
	))
	flags := strings.Join(plan.CSIDrivers[0].Node.Plugin.Args, " ")
	assert.True(t, strings.HasSuffix(flags, "--legacy-xfs=true --reserved-volume-attachments=-1 --volume-attach-limit=25"), flags)
}

func TestDriver_Plan_VolumeAttributesClasses(t *testing.T) {
	annotated := withAnnotation("aws.provider.extensions.gardener.cloud/enable-volume-attributes-class", "true")
	const flag = "--feature-gates=VolumeAttributesClass=true"
	for sentence, test := range map[string]struct {
		changes []func(*controlplane.Shoot)
		want    bool
	}{
		"an annotated shoot":                           {[]func(*controlplane.Shoot){annotated, withKubernetes("1.33.4")}, true},
		"a version that has them by default":           {[]func(*controlplane.Shoot){annotated, withKubernetes("1.34.0")}, false},
		"a shoot that does not ask for a beta feature": {[]func(*controlplane.Shoot){withKubernetes("1.33.4")}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			sidecars := planOf(t, awsShoot(test.changes...)).CSIDrivers[0].Controller.Sidecars
			assert.Equal(t, test.want, slices.Contains(sidecars.Provisioner.Args, flag))
			assert.Equal(t, test.want, slices.Contains(sidecars.Resizer.Args, flag))
		})
	}
}

func TestDriver_Plan_DefaultClasses(t *testing.T) {
	plan := planOf(t, awsShoot(withConfig(`,"storage":{"managedDefaultClass":false}`)))
	assert.Empty(t, plan.StorageClasses[0].Annotations)
	assert.False(t, plan.SnapshotClasses[0].Default)
}

func TestDriver_Plan_NoSubnetsForLoadBalancers(t *testing.T) {
	shoot := awsShoot(func(shoot *controlplane.Shoot) {
		shoot.ControlPlane.Spec.InfrastructureProviderStatus = infrastructureStatus(`{"purpose":"nodes","id":"subnet-nodes-a","zone":"eu-west-1a"}`, "")
	})
	plan := planOf(t, shoot)
	assert.Contains(t, plan.Components[0].Containers[0].Args, "--controllers=*,-service")
	assert.Contains(t, configFile(t, plan), `SubnetID = "subnet-nodes-a"`)
}

func TestDriver_Plan_ElasticFileSystem(t *testing.T) {
	assert.Len(t, planOf(t, awsShoot()).CSIDrivers, 1)
	drivers := planOf(t, awsShoot(dualStack)).CSIDrivers
	require.Len(t, drivers, 2)
	ports := []int32{drivers[0].Node.HealthPort, drivers[1].Node.HealthPort, drivers[1].ShootController.HealthPort}
	slices.Sort(ports)
	assert.Len(t, slices.Compact(ports), 3, "all are in the network of the host")
}

package main

import (
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	kilobyte = 1000
	// pools is the number of the Shoot's pools. The others are the size of the CloudProfile.
	pools                                               = 5
	regions, machineTypes, imageVersions, floatingPools = 20, 150, 60, 40
	benchedProfile, benchedAccount                      = "large", "benched"
)

// sizeOf returns how many bytes the API server sends.
func sizeOf(profile *gardencorev1beta1.CloudProfile) int {
	content, err := json.Marshal(profile)
	if err != nil {
		panic(err) // a CloudProfile that cannot be written
	}
	return len(content)
}

func encoded(object runtime.Object) *runtime.RawExtension {
	raw, err := openstackv1alpha1.Encode(object)
	if err != nil {
		panic(err) // a type that is not of its own group
	}
	return raw
}

func numbered(name string, number int) string { return fmt.Sprintf("%s-%d", name, number) }

// largeCloudProfile is like that of a landscape with many regions: each image has an ID in each.
func largeCloudProfile() *gardencorev1beta1.CloudProfile {
	profile := &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: benchedProfile},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type:        "openstack",
			Kubernetes:  gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: garden.KubernetesVersion}}},
			VolumeTypes: []gardencorev1beta1.VolumeType{{Name: "default", Class: "standard", Usable: new(true)}},
		},
	}
	config := &openstackv1alpha1.CloudProfileConfig{
		KeyStoneURL: "https://keystone.example.org/v3", ServerGroupPolicies: []string{"soft-anti-affinity"},
		Constraints: openstackv1alpha1.Constraints{LoadBalancerProviders: []openstackv1alpha1.LoadBalancerProvider{{Name: "amphora"}}},
	}
	for i := range regions {
		profile.Spec.Regions = append(profile.Spec.Regions, gardencorev1beta1.Region{
			Name: numbered("region", i), Zones: []gardencorev1beta1.AvailabilityZone{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		})
	}
	for i := range machineTypes {
		profile.Spec.MachineTypes = append(profile.Spec.MachineTypes, gardencorev1beta1.MachineType{
			Name: numbered("flavor", i), CPU: resource.MustParse("2"), GPU: resource.MustParse("0"), Memory: resource.MustParse("4Gi"),
			Architecture: new(v1beta1constants.ArchitectureAMD64), Usable: new(true),
		})
	}
	for i := range floatingPools {
		pool := openstackv1alpha1.FloatingPool{Name: numbered("pool", i)}
		if i%2 == 1 {
			pool.Domain = new("elsewhere") // credentials have to be read
		}
		config.Constraints.FloatingPools = append(config.Constraints.FloatingPools, pool)
	}
	addImages(profile, config)
	profile.Spec.ProviderConfig = encoded(config)
	return profile
}

func addImages(profile *gardencorev1beta1.CloudProfile, config *openstackv1alpha1.CloudProfileConfig) {
	image, mapped := gardencorev1beta1.MachineImage{Name: garden.MachineImage}, openstackv1alpha1.MachineImages{Name: garden.MachineImage}
	for i := range imageVersions {
		version := fmt.Sprintf("%d.0.0", i+1)
		image.Versions = append(image.Versions, gardencorev1beta1.MachineImageVersion{
			ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version},
			CRI:              []gardencorev1beta1.CRI{{Name: gardencorev1beta1.CRINameContainerD}},
			Architectures:    []string{v1beta1constants.ArchitectureAMD64},
		})
		inRegions := openstackv1alpha1.MachineImageVersion{Version: version}
		for j := range regions {
			inRegions.Regions = append(inRegions.Regions, openstackv1alpha1.RegionIDMapping{
				Name: numbered("region", j), ID: fmt.Sprintf("%08x-abcd-4321-9876-%012x", i, j),
			})
		}
		mapped.Versions = append(mapped.Versions, inRegions)
	}
	profile.Spec.MachineImages = []gardencorev1beta1.MachineImage{image}
	config.MachineImages = []openstackv1alpha1.MachineImages{mapped}
}

func benchedCredentials() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: benchedAccount, Namespace: garden.Namespace},
		StringData: map[string]string{"domainName": "default", "tenantName": "project", "username": "robot", "password": "secret"},
	}
}

func benchedBinding() *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Name: benchedAccount, Namespace: garden.Namespace},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: benchedAccount, Namespace: garden.Namespace},
	}
}

// benchedShoot uses most features.
func benchedShoot() *gardencorev1beta1.Shoot {
	network := calicov1alpha1.NewNetworkConfig()
	network.Overlay = &calicov1alpha1.Overlay{Enabled: false, CreatePodRoutes: new(true)}
	networkConfig, err := calicov1alpha1.Encode(network)
	if err != nil {
		panic(err)
	}
	shoot := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Name: "benched", Namespace: garden.Namespace},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindCloudProfile, Name: benchedProfile},
			CredentialsBindingName: new(benchedAccount),
			Region:                 "region-7",
			Kubernetes:             gardencorev1beta1.Kubernetes{Version: garden.KubernetesVersion},
			Networking: &gardencorev1beta1.Networking{
				Type: new("calico"), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"), ProviderConfig: networkConfig,
			},
			Provider: gardencorev1beta1.Provider{
				Type: "openstack",
				InfrastructureConfig: encoded(&openstackv1alpha1.InfrastructureConfig{
					FloatingPoolName: "pool-20", Networks: openstackv1alpha1.Networks{Workers: "10.250.0.0/16"},
				}),
				ControlPlaneConfig: encoded(&openstackv1alpha1.ControlPlaneConfig{
					LoadBalancerProvider: "amphora",
					LoadBalancerClasses:  []openstackv1alpha1.LoadBalancerClass{{Name: "inside", Purpose: new("private")}},
				}),
			},
		},
	}
	for i := range pools {
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, benchedPool(i))
	}
	return shoot
}

func benchedPool(number int) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: numbered("pool", number), Minimum: 3, Maximum: 30, Zones: []string{"a", "b", "c"}, Labels: map[string]string{"pool": numbered("is", number)},
		Machine: gardencorev1beta1.Machine{
			Type: numbered("flavor", number), Image: &gardencorev1beta1.ShootMachineImage{Name: garden.MachineImage, Version: new("7.0.0")},
		},
		Volume:      &gardencorev1beta1.Volume{Type: new("default"), VolumeSize: "50Gi"},
		DataVolumes: []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "100Gi"}},
		ProviderConfig: encoded(&openstackv1alpha1.WorkerConfig{
			ServerGroup:              &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"},
			MachineLabels:            []openstackv1alpha1.MachineLabel{{Name: "cost", Value: "centre"}},
			AdditionalSecurityGroups: []string{"monitoring"},
		}),
	}
}

// reviewed is a request of an API server.
type reviewed struct {
	name          string
	review        *admissionv1.AdmissionReview
	times, atOnce int
	// refusedBy is the webhook that refuses it.
	refusedBy string
}

// reviewsOf are a new Shoot, for which all objects are read, and a change for which none are: most changes are Gardener's own. Two more have the
// maximum size, without an error and with the maximum number of errors.
func reviewsOf() []reviewed {
	shoot := benchedShoot()
	labelled := shoot.DeepCopy()
	labelled.Labels = map[string]string{"shoot.gardener.cloud/status": "healthy"}
	return []reviewed{
		{name: "new", review: reviewOf(admissionv1.Create, shoot, nil), times: reviews, atOnce: atOnce},
		{name: "new, one by one", review: reviewOf(admissionv1.Create, shoot, nil), times: fewer, atOnce: 1},
		{name: "labelled", review: reviewOf(admissionv1.Update, labelled, shoot), times: reviews, atOnce: atOnce},
		{name: "large", review: reviewOf(admissionv1.Create, withGroups(6000, numbered), nil), times: fewer, atOnce: atOnce},
		{
			name: "mistaken", review: reviewOf(admissionv1.Create, withGroups(21000, func(string, int) string { return "" }), nil),
			times: fewer, atOnce: atOnce, refusedBy: "shoot.openstack",
		},
	}
}

// withGroups is the Shoot with as many security groups in a pool as fit into 64 KiB.
func withGroups(count int, called func(string, int) string) *gardencorev1beta1.Shoot {
	config := &openstackv1alpha1.WorkerConfig{}
	for i := range count {
		config.AdditionalSecurityGroups = append(config.AdditionalSecurityGroups, called("sg", i))
	}
	shoot := benchedShoot()
	shoot.Spec.Provider.Workers[0].ProviderConfig = encoded(config)
	return shoot
}

func reviewOf(operation admissionv1.Operation, object, old *gardencorev1beta1.Shoot) *admissionv1.AdmissionReview {
	kind := gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot")
	request := &admissionv1.AdmissionRequest{
		UID: "benched", Kind: metav1.GroupVersionKind(kind), Operation: operation, Namespace: object.Namespace, Name: object.Name,
		Resource: metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "shoots"},
		Object:   rawOf(object),
	}
	if old != nil {
		request.OldObject = rawOf(old)
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Request: request,
	}
}

func rawOf(shoot *gardencorev1beta1.Shoot) runtime.RawExtension {
	whole := shoot.DeepCopy()
	whole.SetGroupVersionKind(gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot"))
	content, err := json.Marshal(whole)
	if err != nil {
		panic(err) // a Shoot that cannot be written
	}
	return runtime.RawExtension{Raw: content}
}

package aws

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDriver_Lifecycle(t *testing.T) {
	s := startCloud(t)
	o, p := s.newMachine(machineName, s.withAllFeatures), s.process()
	require.NoError(t, o.create(t.Context(), p))
	instances, err := s.instances(t.Context())
	require.NoError(t, err)
	require.Len(t, instances, 1)
	instance := instances[0]
	require.Equal(t, "aws:///eu-west-1/"+instance.ID, o.machine.Spec.ProviderID)
	require.Equal(t, map[string]string{clusterTag: "1", roleTag: "1", "team": "blue", "Name": machineName}, map[string]string(instance.Tags))
	require.Equal(t, "uid-of-"+machineName, instance.Token)
	require.False(t, instance.Interfaces[0].SourceDestCheck)
	require.Len(t, instance.Interfaces[0].IPv6Prefixes, 1)
	require.True(t, instance.Interfaces[1].SourceDestCheck, "an interface for EFA has no check to disable")

	status, err := o.status(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "ip-10-250-0-4.eu-west-1.compute.internal", status.NodeName)
	require.Contains(t, status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.250.0.4"})
	require.Contains(t, status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalDNS, Address: status.NodeName})
	list, err := p.ListMachines(t.Context(), &driver.ListMachinesRequest{MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)
	require.Equal(t, map[string]string{o.machine.Spec.ProviderID: machineName}, list.MachineList)

	volumes, err := s.cloud.Do(fake.EC2, "DescribeVolumes", url.Values{"Filter.1.Name": {"tag:Name"}, "Filter.1.Value.1": {machineName}})
	require.NoError(t, err)
	require.Len(t, volumes.Structs("Volumes"), 2, "the root device has the image's name, so that there is no other")

	require.NoError(t, o.delete(t.Context(), p))
	require.NoError(t, o.delete(t.Context(), p), "again")
	_, err = o.status(t.Context(), p)
	require.Equal(t, codes.NotFound, code(err))
	_, err = s.cloud.Do(fake.EC2, "DeleteSubnet", url.Values{"SubnetId": {s.subnet}})
	require.NoError(t, err, "its interfaces are gone when the deletion returns")
}

// TestCreateMachine_Request checks what the driver requests for each field of a class.
func TestCreateMachine_Request(t *testing.T) {
	for sentence, test := range map[string]struct {
		edit      func(*v1alpha1.ProviderSpec)
		placement string
		want      map[string]string
	}{
		"a plain class": {want: map[string]string{
			"BlockDeviceMapping.1.DeviceName": rootDevice, "BlockDeviceMapping.1.Ebs.Encrypted": "true", "BlockDeviceMapping.1.Ebs.DeleteOnTermination": "true",
			"NetworkInterface.1.DeleteOnTermination": "true", "NetworkInterface.1.DeviceIndex": "0", "IamInstanceProfile.Name": "nodes",
		}},
		"what the existing driver ignores": {edit: func(s *v1alpha1.ProviderSpec) {
			s.EBSOptimized, s.Monitoring, s.BlockDevices[0].EBS.KMSKeyID = true, true, new("alias/key")
		}, want: map[string]string{"EbsOptimized": "true", "Monitoring.Enabled": "true", "BlockDeviceMapping.1.Ebs.KmsKeyId": "alias/key"}},
		"what is to be kept": {edit: func(s *v1alpha1.ProviderSpec) {
			s.BlockDevices[0].EBS.DeleteOnTermination, s.NetworkInterfaces[0].DeleteOnTermination = new(false), new(false)
		}, want: map[string]string{"BlockDeviceMapping.1.Ebs.DeleteOnTermination": "false", "NetworkInterface.1.DeleteOnTermination": "false"}},
		"metadata and processors": {edit: func(s *v1alpha1.ProviderSpec) {
			s.InstanceMetadataOptions = &v1alpha1.InstanceMetadataOptions{HTTPTokens: "required", HTTPPutResponseHopLimit: new(int32(2)), HTTPProtocolIPv6: "enabled"}
			s.CPUOptions = &v1alpha1.CPUOptions{CoreCount: new(int32(1)), ThreadsPerCore: new(int32(2)), AMDSEVSNP: new("enabled")}
		}, want: map[string]string{
			"MetadataOptions.HttpTokens": "required", "MetadataOptions.HttpPutResponseHopLimit": "2", "MetadataOptions.HttpProtocolIpv6": "enabled",
			"CpuOptions.CoreCount": "1", "CpuOptions.ThreadsPerCore": "2", "CpuOptions.AmdSevSnp": "enabled",
		}},
		"a capacity reservation": {edit: func(s *v1alpha1.ProviderSpec) {
			s.CapacityReservation = &v1alpha1.CapacityReservation{CapacityReservationID: new("cr-1")}
		}, want: map[string]string{"CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId": "cr-1"}},
		"a capacity block": {edit: func(s *v1alpha1.ProviderSpec) {
			s.CapacityReservation = &v1alpha1.CapacityReservation{IsMLCapacityBlock: new(true)}
		}, want: map[string]string{"InstanceMarketOptions.MarketType": "capacity-block"}},
		"a spot instance": {edit: func(s *v1alpha1.ProviderSpec) {
			s.InstanceMarketOptions = &v1alpha1.InstanceMarketOptions{MarketType: "spot"}
		}, want: map[string]string{"InstanceMarketOptions.MarketType": "spot", "InstanceMarketOptions.SpotOptions.SpotInstanceType": "one-time"}},
		"a spot instance by its price": {edit: func(s *v1alpha1.ProviderSpec) { s.SpotPrice = new("0.1") }, want: map[string]string{
			"InstanceMarketOptions.MarketType": "spot", "InstanceMarketOptions.SpotOptions.MaxPrice": "0.1",
		}},
		"a placement": {
			edit: func(s *v1alpha1.ProviderSpec) {
				s.Placement = &v1alpha1.Placement{Tenancy: new("host"), HostID: new("h-1"), Affinity: new("host"), PartitionNumber: new(int32(2))}
			}, placement: `{"Tenancy":"dedicated"}`,
			want: map[string]string{"Placement.Tenancy": "host", "Placement.HostId": "h-1", "Placement.Affinity": "host", "Placement.PartitionNumber": "2"},
		},
		"a placement by the annotation": {placement: `{"Tenancy":"dedicated","GroupName":"g"}`, want: map[string]string{
			"Placement.Tenancy": "dedicated", "Placement.GroupName": "g",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := startCloud(t)
			if test.edit == nil {
				test.edit = func(*v1alpha1.ProviderSpec) {}
			}
			o := s.newMachine(machineName, test.edit)
			o.machine.Spec.NodeTemplateSpec.Annotations = map[string]string{placementAnnotation: test.placement}
			require.NoError(t, o.create(t.Context(), s.process()))
			run := s.cloud.Log().Where(func(c wire.Call) bool { return c.Path == "RunInstances" })
			require.Len(t, run, 1)
			form := map[string]string{}
			for pair := range strings.SplitSeq(run[0].Query, "&") {
				name, value, _ := strings.Cut(pair, "=")
				form[name] = value
			}
			for name, want := range test.want {
				require.Equal(t, want, form[name], name)
			}
		})
	}
}

func TestCreateMachine_NewTokenAfterEnd(t *testing.T) {
	for sentence, forgotten := range map[string]bool{"the instance is listed": false, "the instance has lost its tags": true} {
		t.Run(sentence, func(t *testing.T) {
			s := startCloud(t)
			o, p := s.newMachine(machineName), s.process()
			s.cloud.SetTransition(fake.InstanceStart, fake.Transition{Reads: 1, Fail: true, Code: "Client.VolumeLimitExceeded", Message: "volumes"})
			err := o.create(t.Context(), p)
			require.Equal(t, codes.ResourceExhausted, code(err))
			require.ErrorContains(t, err, "could not be started")
			require.ErrorContains(t, err, "raise the quota")
			s.cloud.SetTransition(fake.InstanceStart, fake.Transition{Reads: 1})
			if forgotten {
				all, err := s.cloud.Do(fake.EC2, "DescribeInstances", url.Values{})
				require.NoError(t, err)
				id := all.Structs("Reservations")[0].Structs("Instances")[0].String("InstanceId")
				_, err = s.cloud.Do(fake.EC2, "DeleteTags", url.Values{"ResourceId.1": {id}})
				require.NoError(t, err)
			}
			require.NoError(t, o.create(t.Context(), p))
			instances, err := s.instances(t.Context())
			require.NoError(t, err)
			require.Len(t, instances, 1)
			require.Equal(t, "uid-of-"+machineName+"-1", instances[0].Token)
		})
	}
}

// TestCreateMachine_OtherUserData repeats a request whose response was lost with another bootstrap token, while lists do not show the instance yet.
func TestCreateMachine_OtherUserData(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetLag(fake.Lag{TagReads: 100})
	o, p := s.newMachine(machineName), s.process()
	s.cloud.Inject(wire.Fault{Match: wire.Match{Path: "RunInstances"}, Drop: wire.DropAfter, Times: 2})
	require.Equal(t, codes.Unavailable, code(o.create(t.Context(), p)))
	o.secret.Data["userData"] = []byte("#!/bin/false")
	require.NoError(t, o.create(t.Context(), p))
	instances, err := s.instances(t.Context())
	require.NoError(t, err)
	require.Len(t, instances, 1)
	require.Equal(t, "aws:///eu-west-1/"+instances[0].ID, o.machine.Spec.ProviderID)
}

func TestCreateMachine_Lag(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetLag(fake.Lag{Reads: 2, TagReads: 4})
	s.cloud.Inject(wire.Fault{ // EC2 does not see the instance profile yet
		Match: wire.Match{Path: "RunInstances"}, Status: 400, Type: codeInvalidParameter, Times: profileAttempts - 1,
	})
	o, p := s.newMachine(machineName), s.process()
	require.NoError(t, o.create(t.Context(), p))
	_, err := o.status(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, o.delete(t.Context(), p))
	require.NotContains(t, strings.Join(s.cloud.Resources(), " "), " i-")
}

// TestGetMachineStatus_AfterRestart finds an instance that runs, but is not initialized, without a creation: MCM would delete it if its Node existed already.
func TestGetMachineStatus_AfterRestart(t *testing.T) {
	s := startCloud(t)
	o := s.newMachine(machineName)
	created, err := s.process().CreateMachine(t.Context(), &driver.CreateMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)
	p := s.process()
	status, err := o.status(t.Context(), p)
	require.Equal(t, codes.Uninitialized, code(err))
	require.Equal(t, created.ProviderID, status.ProviderID)
	require.Equal(t, created.NodeName, status.NodeName)

	deleted := *o
	deleted.machine = o.machine.DeepCopy()
	deleted.machine.DeletionTimestamp = new(metav1.Now())
	_, err = deleted.status(t.Context(), s.process())
	require.NoError(t, err, "what is to be deleted is not initialized")
	require.NoError(t, o.create(t.Context(), p))
	_, err = o.status(t.Context(), p)
	require.NoError(t, err)
}

func TestInitializeMachine_AfterFailure(t *testing.T) {
	s := startCloud(t)
	o, p := s.newMachine(machineName, s.withAllFeatures), s.process()
	s.cloud.Inject(wire.Fault{Match: wire.Match{Path: "AssignIpv6Addresses"}, Drop: wire.DropAfter})
	require.Equal(t, codes.Unavailable, code(o.create(t.Context(), p)))
	require.NoError(t, o.create(t.Context(), p))
	instances, err := s.instances(t.Context())
	require.NoError(t, err)
	require.Len(t, instances[0].Interfaces[0].IPv6Prefixes, 1, "what took effect is not repeated")
}

func TestDeleteMachine_ForeignInstance(t *testing.T) {
	s := startCloud(t)
	other := s.newMachine("other", func(spec *v1alpha1.ProviderSpec) {
		spec.Tags = map[string]string{v1alpha1.TagClusterPrefix + "shoot--dev--two": "1", roleTag: "1"}
	})
	p := s.process()
	require.NoError(t, other.create(t.Context(), p))
	o := s.newMachine("other")
	o.machine.Spec.ProviderID = other.machine.Spec.ProviderID
	require.Equal(t, codes.FailedPrecondition, code(o.delete(t.Context(), p)))
	o.machine.Spec.ProviderID = ""
	require.NoError(t, o.delete(t.Context(), p))
	_, err := o.status(t.Context(), p)
	require.Equal(t, codes.NotFound, code(err), "an instance with the name of a machine is another shoot's")
	instances, err := s.instances(t.Context())
	require.NoError(t, err)
	require.Len(t, instances, 1)
}

func TestDeleteMachine_Timeout(t *testing.T) {
	s := startCloud(t)
	o, p := s.newMachine(machineName), s.process()
	require.NoError(t, o.create(t.Context(), p))
	s.cloud.SetTransition(fake.InstanceTerminate, fake.Transition{After: time.Hour})
	p.options.DeleteTimeout = 100 * time.Millisecond
	err := o.delete(t.Context(), p)
	require.Equal(t, codes.DeadlineExceeded, code(err))
	require.ErrorContains(t, err, "still shutting down")
	o.machine.DeletionTimestamp = new(metav1.Now())
	_, err = o.status(t.Context(), p)
	require.NoError(t, err, "MCM goes on with the deletion")
}

func TestDriver_Credentials(t *testing.T) {
	s := startCloud(t)
	const role = "arn:aws:iam::123456789012:role/shoots"
	claims := fmt.Sprintf(`{"sub":"shoot","exp":%d}`, time.Now().Add(time.Hour).Unix())
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
	s.cloud.TrustWebIdentity(role, "shoot")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	key := fake.DefaultKey()
	for sentence, test := range map[string]struct {
		data   map[string]string
		logins int
		want   codes.Code
	}{
		"an access key":                    {map[string]string{"accessKeyID": key.KeyID, "secretAccessKey": key.Secret}, 0, codes.NotFound},
		"an access key by the older names": {map[string]string{"providerAccessKeyId": key.KeyID, "providerSecretAccessKey": key.Secret}, 0, codes.NotFound},
		"a workload identity":              {map[string]string{"roleARN": role, "token": token}, 1, codes.NotFound},
		"a workload identity with a file":  {map[string]string{"roleARN": role, "workloadIdentityTokenFile": file}, 1, codes.NotFound},
		"a token, and a file that no volume has yet": {
			map[string]string{"roleARN": role, "token": token, "workloadIdentityTokenFile": file + "x"}, 1, codes.NotFound,
		},
		"a file that does not exist":        {map[string]string{"roleARN": role, "workloadIdentityTokenFile": file + "x"}, 0, codes.Unauthenticated},
		"an access key that does not exist": {map[string]string{"accessKeyID": "AKIATRELLISEXAMPLE02", "secretAccessKey": key.Secret}, 0, codes.Unauthenticated},
		"nothing":                           {nil, 0, codes.InvalidArgument},
	} {
		t.Run(sentence, func(t *testing.T) {
			o, p := s.newMachine(machineName), s.process()
			o.secret.Data = map[string][]byte{}
			for key, value := range test.data {
				o.secret.Data[key] = []byte(value)
			}
			s.cloud.ResetLog()
			for range 2 {
				_, err := o.status(t.Context(), p)
				require.Equal(t, test.want, code(err), "%v", err)
			}
			require.Equal(t, test.logins, s.cloud.Log().Logins())
		})
	}
}

func TestGetVolumeIDs(t *testing.T) {
	response, err := startCloud(t).process().GetVolumeIDs(t.Context(), &driver.GetVolumeIDsRequest{PVSpecs: []*corev1.PersistentVolumeSpec{
		{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: ebsCSI, VolumeHandle: "vol-1"}}},
		{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "efs.csi.aws.com", VolumeHandle: "fs-1"}}},
		{PersistentVolumeSource: corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-west-1a/vol-2"}}},
		{PersistentVolumeSource: corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "x"}}},
		{},
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"vol-1", "vol-2"}, response.VolumeIDs)
}

func TestNew_Metrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	_, err := New(Options{Registerer: registry})
	require.NoError(t, err)
	_, err = New(Options{Registerer: registry})
	require.Error(t, err)
}

func TestReadClass_Invalid(t *testing.T) {
	s := startCloud(t)
	for sentence, change := range map[string]func(*testMachine){
		"no secret":        func(o *testMachine) { o.secret = nil },
		"another provider": func(o *testMachine) { o.class.Provider = "OpenStack" },
		"no specification": func(o *testMachine) { o.class.ProviderSpec.Raw = nil },
		"no tags": func(o *testMachine) {
			o.class.ProviderSpec.Raw = []byte(`{"tags":{"kubernetes.io/cluster/":"1","kubernetes.io/role/node":"1"}}`)
		},
		"no user data":   func(o *testMachine) { delete(o.secret.Data, "userData") },
		"long user data": func(o *testMachine) { o.secret.Data["userData"] = make([]byte, maxUserDataLength+1) },
		"an invalid class": func(o *testMachine) {
			o.class.ProviderSpec.Raw = []byte(`{"tags":{"kubernetes.io/cluster/x":"1","kubernetes.io/role/node":"1"}}`)
		},
		"an invalid placement": func(o *testMachine) {
			o.machine.Spec.NodeTemplateSpec.Annotations = map[string]string{placementAnnotation: "host"}
		},
	} {
		o := s.newMachine(machineName)
		change(o)
		_, err := s.process().CreateMachine(t.Context(), &driver.CreateMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
		require.Equal(t, codes.InvalidArgument, code(err), sentence)
	}
	require.Empty(t, s.cloud.Log().Where(wire.Call.IsWrite))
	_, err := readClass(nil, &corev1.Secret{})
	require.Error(t, err)
	_, err = readClass(&machinev1alpha1.MachineClass{}, nil)
	require.Error(t, err)
}

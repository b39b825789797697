package aws_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure/aws"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// pathOfEFS begins the paths of all calls to EFS.
const pathOfEFS = "/2015-02-01/"

// A shoot with an elastic file system passes the suite, too. Of its exploration only the calls to EFS go wrong: all others are those of TestSuite.
func TestSuite_FileSystem(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	infrastructuretest.Run(t, server, infrastructuretest.Subject{
		Type:           aws.Type,
		NewCloud:       newFileSystemCloud,
		ErrorResponses: efsErrorResponses,
		Want: map[string]int{
			"VPC": 1, "DHCP options": 1, "internet gateway": 1, "subnet": 3, "route table": 2, "NAT gateway": 1, "elastic IP": 1, "security group": 1,
			"key pair": 1, "role": 1, "instance profile": 1, "file system": 1, "mount target": 1,
		},
		Cases: pathOfEFS,
	})
}

// fileSystemCloud is the fake AWS for a shoot with an elastic file system.
type fileSystemCloud struct{ *suiteCloud }

var _ infrastructuretest.Cloud = fileSystemCloud{}

// newFileSystemCloud plants file systems of others: a namesake, which has the tag of upstream's, and another shoot's, with a mount target.
func newFileSystemCloud(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
	made, err := newSuiteCloud(shoot, newDriver)
	if err != nil {
		return nil, err
	}
	c := fileSystemCloud{made.(*suiteCloud)}
	if err := c.plantFileSystems(context.Background(), shoot.TechnicalID); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c fileSystemCloud) plantFileSystems(ctx context.Context, technicalID string) error {
	if _, err := c.operator.CreateFileSystem(ctx, "namesake", cloudaws.Tags{"Name": technicalID, "managed-by-gardener": "true"}); err != nil {
		return err
	}
	cluster := "kubernetes.io/cluster/" + technicalID + "-2"
	other, err := c.operator.CreateFileSystem(ctx, "other", cloudaws.Tags{"Name": technicalID + "-2", cluster: "owned"})
	if err != nil {
		return err
	}
	subnets, err := c.operator.ListSubnets(ctx, cloudaws.Filter{TagKeys: []string{cluster}})
	if err != nil {
		return err
	}
	_, err = c.operator.CreateMountTarget(ctx, cloudaws.MountTargetCreate{FileSystemID: other.ID, SubnetID: subnets[0].ID})
	return err
}

// Inputs implements infrastructuretest.Cloud.
func (c fileSystemCloud) Inputs() infrastructuretest.Inputs {
	inputs := c.suiteCloud.Inputs()
	inputs.InfrastructureConfig.(*awsv1alpha1.InfrastructureConfig).ElasticFileSystem = &awsv1alpha1.ElasticFileSystemConfig{Enabled: true}
	return inputs
}

// Resources implements infrastructuretest.Cloud. The facts have names for the IDs of other resources.
func (c fileSystemCloud) Resources() ([]infrastructuretest.Resource, error) {
	ctx := context.Background()
	all, err := c.suiteCloud.Resources()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, resource := range all {
		names[resource.ID] = resource.Name
	}
	systems, err := c.operator.ListFileSystems(ctx, cloudaws.Filter{})
	if err != nil {
		return nil, err
	}
	for _, system := range systems {
		all = append(all, factual("file system", system.ID, system.Tags["Name"], system.State, system.Encrypted, system.Tags))
		targets, err := c.operator.ListMountTargets(ctx, system.ID)
		if err != nil {
			return nil, err
		}
		for _, target := range targets {
			groups, err := c.operator.GetMountTargetGroups(ctx, target.ID)
			if err != nil {
				return nil, err
			}
			for i := range groups {
				groups[i] = names[groups[i]]
			}
			all = append(all, factual("mount target", target.ID, system.Tags["Name"]+" "+target.Zone, target.State, names[target.SubnetID], groups))
		}
	}
	return all, nil
}

func factual(kind, id, name string, facts ...any) infrastructuretest.Resource {
	text, err := json.Marshal(facts)
	if err != nil {
		text = []byte(err.Error())
	}
	return infrastructuretest.Resource{Kind: kind, ID: id, Name: name, Facts: string(text), Version: string(text)}
}

// efsErrorResponses are the errors with which EFS may truthfully refuse a call that is right.
func efsErrorResponses(call contracttest.Call) []contracttest.ErrorResponse {
	if !strings.HasPrefix(call.Path, pathOfEFS) {
		return suiteErrorResponses(call)
	}
	errorsByCode := map[string]int{
		"UnrecognizedClientException": http.StatusForbidden, "AccessDeniedException": http.StatusForbidden, "ThrottlingException": http.StatusBadRequest,
	}
	switch {
	case call.Method == http.MethodPost && strings.Contains(call.Path, "file-systems"):
		errorsByCode["FileSystemLimitExceeded"] = http.StatusForbidden
	case call.Method == http.MethodPost:
		errorsByCode["NoFreeAddressesInSubnet"], errorsByCode["IncorrectFileSystemLifeCycleState"] = http.StatusConflict, http.StatusConflict
	case call.Method == http.MethodDelete && strings.Contains(call.Path, "file-systems"):
		errorsByCode["FileSystemInUse"] = http.StatusConflict
	case call.Method == http.MethodDelete:
		errorsByCode["DependencyTimeout"] = http.StatusGatewayTimeout
	}
	responses := []contracttest.ErrorResponse{
		efsRefusal(http.StatusInternalServerError, "InternalServerError", true), efsRefusal(http.StatusServiceUnavailable, "ServiceUnavailable", true),
	}
	for _, code := range slices.Sorted(maps.Keys(errorsByCode)) {
		responses = append(responses, efsRefusal(errorsByCode[code], code, false))
	}
	return responses
}

func efsRefusal(status int, code string, afterEffect bool) contracttest.ErrorResponse {
	return contracttest.ErrorResponse{
		Error: fmt.Sprintf("%d %s", status, code), AfterEffect: afterEffect,
		Response: func(request *http.Request) *http.Response {
			body := `{"ErrorCode": "` + code + `", "Message": "No."}`
			return &http.Response{
				StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
				Header: http.Header{"Content-Type": {"application/json"}, "X-Amzn-Errortype": {code}},
				Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
			}
		},
	}
}

package aws_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/aws"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

const (
	zone      = "eu-west-1a"
	publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILpjb/ba8Lb65RZDF36cTpHKdmz+YnnMDq4cxCQjiaoU suite"
)

// TestSuite runs the suite for the driver, and shows that it rejects drivers that break one of its rules.
func TestSuite(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	t.Run("the driver passes", func(t *testing.T) {
		infrastructuretest.Run(t, server, suiteSubject(newDriver, map[string]int{
			"VPC": 1, "DHCP options": 1, "internet gateway": 1, "subnet": 3, "route table": 2, "NAT gateway": 1, "elastic IP": 1, "security group": 1,
			"key pair": 1, "role": 1, "instance profile": 1,
		}))
	})
	for name, broken := range brokenDrivers() {
		t.Run(name+" is rejected", func(t *testing.T) {
			t.Parallel()
			subject := suiteSubject(func(sessions *cloudaws.Sessions) infrastructure.Driver {
				driver := broken.driver
				driver.sessions = sessions
				return driver
			}, broken.want)
			report, err := infrastructuretest.Explore(t.Context(), server, subject, contracttest.Options{
				Phases: []contracttest.Phase{contracttest.Create}, Filter: "AllocateAddress", MaxFailures: 1, Deadline: 10 * time.Second,
			})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures, "%s", report)
			assert.Contains(t, report.Failures[0].String(), broken.violation)
		})
	}
}

// newDriver returns the driver as the suite runs it: resources are visible soon.
func newDriver(sessions *cloudaws.Sessions) infrastructure.Driver {
	return aws.New(sessions, aws.Options{VisibleAfter: 50 * time.Millisecond})
}

func suiteSubject(build func(*cloudaws.Sessions) infrastructure.Driver, want map[string]int) infrastructuretest.Subject {
	return infrastructuretest.Subject{
		Type: aws.Type,
		NewCloud: func(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
			return newSuiteCloud(shoot, build)
		},
		ErrorResponses: suiteErrorResponses,
		Want:           want,
		MergeFaults:    raceDetector,
	}
}

// suiteCloud is the fake AWS as the suite sees it.
type suiteCloud struct {
	fake *fake.Cloud
	// operator reads what is in the account.
	operator *cloudaws.Session
	build    func(*cloudaws.Sessions) infrastructure.Driver
}

var _ infrastructuretest.Cloud = (*suiteCloud)(nil)

func newSuiteCloud(shoot infrastructuretest.Identity, build func(*cloudaws.Sessions) infrastructure.Driver) (infrastructuretest.Cloud, error) {
	cloud, err := fake.New(fake.WithRegion(contracttest.Region), fake.WithZones(zone))
	if err != nil {
		return nil, err
	}
	if err := cloud.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	c := &suiteCloud{fake: cloud, build: build}
	key := fake.DefaultKey()
	sessions := cloudaws.NewSessions(cloudaws.Options{Endpoint: cloud.URL(), QPS: -1})
	c.operator, err = sessions.Get(context.Background(), auth.Credentials{AccessKeyID: key.KeyID, SecretAccessKey: key.Secret}, contracttest.Region)
	if err == nil {
		err = c.plantOthers(context.Background(), shoot.TechnicalID)
	}
	if err != nil {
		return nil, errors.Join(err, cloud.Close())
	}
	return c, nil
}

// Inputs implements infrastructuretest.Cloud.
func (c *suiteCloud) Inputs() infrastructuretest.Inputs {
	version := awsv1alpha1.GroupVersion().String()
	key := fake.DefaultKey()
	return infrastructuretest.Inputs{
		InfrastructureConfig: &awsv1alpha1.InfrastructureConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "InfrastructureConfig"},
			Networks: awsv1alpha1.Networks{
				VPC: awsv1alpha1.VPC{CIDR: new("10.250.0.0/16")},
				Zones: []awsv1alpha1.Zone{{
					Name: zone, Workers: new("10.250.0.0/19"), Public: new("10.250.96.0/22"), Internal: new("10.250.112.0/22"),
				}},
			},
		},
		CloudProfileConfig: &awsv1alpha1.CloudProfileConfig{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "CloudProfileConfig"}},
		Credentials:        map[string][]byte{"accessKeyID": []byte(key.KeyID), "secretAccessKey": []byte(key.Secret)},
		SSHPublicKey:       []byte(publicKey),
	}
}

// NewDriver implements infrastructuretest.Cloud.
func (c *suiteCloud) NewDriver(wrap contracttest.Transport) (infrastructure.Driver, error) {
	return c.build(cloudaws.NewSessions(cloudaws.Options{
		Endpoint: c.fake.URL(), Transport: wrap, QPS: -1,
		Retry: transport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})), nil
}

// Close implements infrastructuretest.Cloud.
func (c *suiteCloud) Close() error { return c.fake.Close() }

// plantOthers makes what others own in the same account: namesakes without the tag of the cluster, and another shoot's resources, whose technical ID begins
// with this shoot's.
func (c *suiteCloud) plantOthers(ctx context.Context, technicalID string) error {
	for name, tags := range map[string]cloudaws.Tags{
		technicalID:        {"Name": technicalID},
		technicalID + "-2": {"Name": technicalID + "-2", "kubernetes.io/cluster/" + technicalID + "-2": "owned"},
	} {
		if err := c.plantShoot(ctx, name, tags); err != nil {
			return fmt.Errorf("planting %s: %w", name, err)
		}
	}
	return nil
}

// plantShoot makes most of what a shoot consists of.
func (c *suiteCloud) plantShoot(ctx context.Context, name string, tags cloudaws.Tags) error {
	vpc, err := c.operator.CreateVPC(ctx, cloudaws.VPCCreate{CIDR: "10.250.0.0/16", Tags: tags})
	if err != nil {
		return err
	}
	subnet, err := c.operator.CreateSubnet(ctx, cloudaws.SubnetCreate{VPCID: vpc.ID, Zone: zone, CIDR: "10.250.96.0/22", Tags: tags})
	if err != nil {
		return err
	}
	gateway, err := c.operator.CreateInternetGateway(ctx, tags)
	if err != nil {
		return err
	}
	address, err := c.operator.AllocateAddress(ctx, tags)
	if err != nil {
		return err
	}
	steps := []error{
		c.operator.AttachInternetGateway(ctx, gateway.ID, vpc.ID),
	}
	_, err = c.operator.CreateNATGateway(ctx, subnet.ID, address.AllocationID, name, tags)
	steps = append(steps, err)
	_, err = c.operator.CreateRouteTable(ctx, vpc.ID, name, tags)
	steps = append(steps, err)
	_, err = c.operator.CreateDHCPOptions(ctx, "example.com", tags)
	steps = append(steps, err)
	_, err = c.operator.CreateSecurityGroup(ctx, vpc.ID, name+"-nodes", "of others", tags)
	steps = append(steps, err)
	_, err = c.operator.ImportKeyPair(ctx, name+"-other", []byte(publicKey), tags)
	return errors.Join(append(steps, err)...)
}

// Resources implements infrastructuretest.Cloud.
func (c *suiteCloud) Resources() ([]infrastructuretest.Resource, error) {
	return aws.ListAccount(context.Background(), c.fake, c.operator)
}

// suiteErrorResponses are the errors with which AWS may truthfully refuse a call that is right. An answer that something is missing which exists would be a lie,
// except right after its creation, which the fake does by itself.
func suiteErrorResponses(call contracttest.Call) []contracttest.ErrorResponse {
	responses := []contracttest.ErrorResponse{
		refusal(http.StatusUnauthorized, "AuthFailure", false),
		refusal(http.StatusForbidden, "UnauthorizedOperation", false),
		refusal(http.StatusServiceUnavailable, "RequestLimitExceeded", false),
		refusal(http.StatusInternalServerError, "InternalError", true),
		refusal(http.StatusServiceUnavailable, "Unavailable", true),
	}
	action := strings.TrimPrefix(call.Path, "/?Action=")
	switch {
	case strings.HasPrefix(action, "Create"), strings.HasPrefix(action, "Allocate"):
		responses = append(responses, refusal(http.StatusBadRequest, "ResourceLimitExceeded", false), refusal(http.StatusBadRequest, "InvalidParameterValue", false))
	case strings.HasPrefix(action, "Delete") && !strings.Contains(action, "KeyPair") && !strings.Contains(action, "Role") && !strings.Contains(action, "Profile"):
		responses = append(responses, refusal(http.StatusBadRequest, "DependencyViolation", false))
	}
	return responses
}

// refusal is an error in the form of both protocols: each client reads its own part.
func refusal(status int, code string, afterEffect bool) contracttest.ErrorResponse {
	return contracttest.ErrorResponse{
		Error: fmt.Sprintf("%d %s", status, code), AfterEffect: afterEffect,
		Response: func(request *http.Request) *http.Response {
			body := "<Response><Errors><Error><Code>" + code + "</Code><Message>No.</Message></Error></Errors><RequestID>r</RequestID></Response>"
			if scope := request.Header.Get("Authorization"); !strings.Contains(scope, "/ec2/aws4_request") {
				body = "<ErrorResponse><Error><Type>Sender</Type><Code>" + code + "</Code><Message>No.</Message></Error><RequestId>r</RequestId></ErrorResponse>"
			}
			return &http.Response{
				StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
				Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
			}
		},
	}
}

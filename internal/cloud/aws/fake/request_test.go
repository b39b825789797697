package fake_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestSignatures(t *testing.T) {
	const errorsOfEC2 = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html"
	const errorsOfSTS = "https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html"
	testBehaviours(t, map[string]behaviour{
		"a wrong secret key is a wrong signature": {
			source: errorsOfEC2,
			check: func(_ *testing.T, a *account) {
				a.key.Secret = "other"
				a.fails("SignatureDoesNotMatch", "DescribeVpcs")
				a.fails("SignatureDoesNotMatch", "sts:GetCallerIdentity")
			},
		},
		"an unknown key is an AuthFailure of EC2, and an InvalidClientTokenId of the others": {
			source: errorsOfEC2 + " and " + errorsOfSTS,
			check: func(_ *testing.T, a *account) {
				assert.True(a.t, a.RemoveKey(a.key.KeyID))
				a.fails("AuthFailure", "DescribeVpcs")
				for _, action := range []string{"sts:GetCallerIdentity", "elb:DescribeLoadBalancers", "elbv2:DescribeLoadBalancers"} {
					a.fails("InvalidClientTokenId", action)
				}
				a.fails("InvalidClientTokenId", "iam:GetRole", "RoleName", "nodes")
			},
		},
		"a key that belongs to a user with another key ID works at once": {
			source: judgement,
			check: func(t *testing.T, a *account) {
				a.key = sigv4.Credentials{KeyID: "AKIATRELLISEXAMPLE02", Secret: "second"}
				a.AddKey("second", a.key)
				assert.Equal(t, "arn:aws:iam::123456789012:user/second", a.do("sts:GetCallerIdentity").text("GetCallerIdentityResult/Arn"))
			},
		},
		"an old signature has expired": {
			source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html; RequestExpired of errors-overview.html",
			check: func(t *testing.T, a *account) {
				a.SetClockOffset(10 * time.Minute)
				a.fails("RequestExpired", "DescribeVpcs")
				assert.Contains(t, a.fails("SignatureDoesNotMatch", "sts:GetCallerIdentity"), "Signature expired: ")
			},
		},
		"a signature for another region is refused": {
			source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html; the code is our judgement",
			check: func(t *testing.T, a *account) {
				a.region = "us-east-2"
				assert.Equal(t, "Credential should be scoped to a valid region.", a.fails("SignatureDoesNotMatch", "DescribeVpcs"))
				a.fails("SignatureDoesNotMatch", "sts:GetCallerIdentity")
				a.region = "us-east-1"
				a.do("sts:GetCallerIdentity")
			},
		},
		"a request without a signature is refused": {
			source: errorsOfSTS,
			check: func(_ *testing.T, a *account) {
				a.key = sigv4.Credentials{}
				a.fails("MissingAuthenticationToken", "DescribeVpcs")
			},
		},
		"a policy denies an action": {
			source: errorsOfEC2 + " and " + errorsOfSTS,
			check: func(_ *testing.T, a *account) {
				a.SetDenied("ec2:CreateVpc", "iam:GetRole", "elasticloadbalancing:DescribeLoadBalancers")
				a.fails("UnauthorizedOperation", "CreateVpc", "CidrBlock", "10.250.0.0/16")
				a.fails("AccessDenied", "iam:GetRole", "RoleName", "nodes")
				a.fails("AccessDenied", "elbv2:DescribeLoadBalancers")
				a.SetDenied()
				a.do("CreateVpc", "CidrBlock", "10.250.0.0/16")
			},
		},
	})
}

func TestRequests(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a request that does not fit the model is refused": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html; https://github.com/aws/aws-sdk-js/issues/54 shows a response",
			check: func(t *testing.T, a *account) {
				a.fails("InvalidAction", "Fly")
				a.fails("MissingParameter", "DeleteVpc")
				a.fails("InvalidParameterValue", "CreateVpc", "CidrBlock", "10.250.0.0/16", "InstanceTenancy", "wrong")
				assert.Equal(t, "The parameter Item is not recognized", a.fails("UnknownParameter", "DescribeVpcs", "Item", "1"))
			},
		},
		"what the fake does not implement is refused loudly": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				assert.Contains(t, a.fails("NotImplemented", "CreateVpc", "CidrBlock", "10.250.0.0/16", "Ipv4IpamPoolId", "p"), "Ipv4IpamPoolId")
			},
		},
		"a dry run changes nothing": {
			source: reference("CreateVpc"),
			check: func(t *testing.T, a *account) {
				a.fails("DryRunOperation", "CreateVpc", "CidrBlock", "10.250.0.0/16", "DryRun", "true")
				assert.Empty(t, a.Resources())
			},
		},
		"an unknown version is refused": {
			source: "NoSuchVersion of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html; the format is our judgement",
			check: func(t *testing.T, a *account) {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL(), strings.NewReader("Action=DescribeVpcs&Version=2010-01-01"))
				require.NoError(t, err)
				answer, err := http.DefaultClient.Do(r)
				require.NoError(t, err)
				assert.NoError(t, answer.Body.Close())
				assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
			},
		},
		"a request may be a GET": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html",
			check: func(t *testing.T, a *account) {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+"/?Version=2016-11-15&Action=DescribeVpcs", nil)
				require.NoError(t, err)
				a.key.Sign(r, nil, "ec2", a.region, time.Now())
				answer, err := http.DefaultClient.Do(r)
				require.NoError(t, err)
				assert.NoError(t, answer.Body.Close())
				assert.Equal(t, http.StatusOK, answer.StatusCode)
			},
		},
	})
}

// Nothing is in the models that no client uses.
func TestNotImplemented(t *testing.T) {
	assert.Empty(t, newAccount(t).NotImplemented())
}

func TestControl(t *testing.T) {
	a := newAccount(t, fake.WithRegion("us-east-1"), fake.WithZones("us-east-1a", "us-east-1f"))
	a.region = "us-east-1"
	assert.Equal(t, []string{"us-east-1a", "us-east-1f"}, a.do("DescribeAvailabilityZones").texts("availabilityZoneInfo/item/zoneName"))
	assert.Equal(t, "ec2.internal", a.do("DescribeDhcpOptions").text("dhcpOptionsSet/item/dhcpConfigurationSet/item/valueSet/item/value"),
		"https://docs.aws.amazon.com/vpc/latest/userguide/DHCPOptionSetConcepts.html")
	a.SetQuota(fake.QuotaVPCs, 1)
	id := a.vpc()
	a.fails("VpcLimitExceeded", "CreateVpc", "CidrBlock", "10.250.0.0/16")
	a.SetLag(fake.Lag{Reads: 1})
	n := a.subnet(id, "10.250.0.0/24")
	a.fails("InvalidSubnetID.NotFound", "DescribeSubnets", "SubnetId.1", n)
	a.SetLag(fake.Lag{})
	a.SetTransition(fake.NATGatewayCreate, fake.Transition{After: time.Hour})
	a.gateway(id)
	a.do("CreateNatGateway", "SubnetId", n, "AllocationId", a.address())
	assert.Equal(t, "pending", a.do("DescribeNatGateways").text("natGatewaySet/item/state"))
}

func TestCallLog(t *testing.T) {
	a := newAccount(t)
	id := a.vpc()
	a.do("DescribeVpcs", "VpcId.1", id)
	a.do("ImportKeyPair", "KeyName", "shoot", "PublicKeyMaterial", base64Of(rsaKey))
	a.fails("NoSuchEntity", "iam:GetRole", "RoleName", "nodes")
	var calls []string
	for _, call := range a.Log() {
		calls = append(calls, call.String())
	}
	assert.Empty(t, cmp.Diff([]string{
		"ec2 POST CreateVpc?CidrBlock=10.250.0.0/16 200", "ec2 POST DescribeVpcs?VpcId.1=" + id + " 200", "ec2 POST ImportKeyPair?KeyName=shoot 200",
		"iam POST GetRole?RoleName=nodes 404",
	}, calls))
	assert.Len(t, a.Log().Where(wire.Call.IsWrite), 2, "POST is no sign of a write")
}

func TestFaults(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"the third call of an action fails with a code": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				a.Inject(wire.Fault{
					Match: wire.Match{Service: fake.EC2, Path: "CreateVpc"}, Skip: 2, Status: http.StatusInternalServerError, Type: "InternalError", Message: "An error",
				})
				a.vpc()
				a.vpc()
				assert.Equal(t, "An error", a.fails("InternalError", "CreateVpc", "CidrBlock", "10.250.0.0/16"))
				a.vpc()
			},
		},
		"a response is lost after the effect": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				a.Inject(wire.Fault{Match: wire.Match{Service: fake.EC2, WritesOnly: true}, Drop: wire.DropAfter})
				a.do("DescribeVpcs")
				_, err := a.send("CreateVpc", "CidrBlock", "10.250.0.0/16")
				require.Error(t, err)
				require.NoError(t, a.WaitIdle(t.Context()))
				assert.Len(t, a.do("DescribeVpcs").texts("vpcSet/item/vpcId"), 1)
			},
		},
		"a request is lost before the effect": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				a.Inject(wire.Fault{Match: wire.Match{Path: "CreateVpc"}, Drop: wire.DropBefore})
				_, err := a.send("CreateVpc", "CidrBlock", "10.250.0.0/16")
				require.Error(t, err)
				assert.Empty(t, a.Resources())
			},
		},
		"EC2 and the others differ in the errors of too many calls": {
			source: "https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html and https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html",
			check: func(_ *testing.T, a *account) {
				a.Inject(fake.Throttled(fake.EC2, "Describe*"))
				a.Inject(fake.Throttled(fake.IAM, "GetRole"))
				a.vpc()
				a.fails("RequestLimitExceeded", "DescribeSubnets")
				a.fails("Throttling", "iam:GetRole", "RoleName", "nodes")
				a.do("DescribeSubnets")
			},
		},
		"each call takes the latency": {
			source: "no behaviour of AWS", options: []fake.Option{fake.WithLatency(20 * time.Millisecond)},
			check: func(t *testing.T, a *account) {
				started := time.Now()
				a.do("DescribeVpcs")
				assert.GreaterOrEqual(t, time.Since(started), 20*time.Millisecond)
			},
		},
	})
}

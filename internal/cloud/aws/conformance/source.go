package conformance

// Source says from where a behaviour of AWS is known: an address, or Judgement.
type Source string

// Judgement is the source of a behaviour for which we have found no statement of AWS and no other project's test.
const Judgement Source = "judgement"

// Sources that several behaviours have.
const (
	errorCodes        Source = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html"
	clientTokens      Source = "https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html"
	consistency       Source = "https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html"
	natTroubles       Source = "https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"
	natBasics         Source = "https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html"
	groupGuide        Source = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html"
	defaultGroupGuide Source = "https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html"
	dnsGuide          Source = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html"
	routeTableGuide   Source = "https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html"
	subnetGuide       Source = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
	keyGuide          Source = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/verify-keys.html"
	endpointGuide     Source = "https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html"
	// What others saw in AWS.
	keyPairIssue Source = "https://github.com/boto/boto3/issues/865"
	addressIssue Source = "https://github.com/kubernetes/kops/issues/1604"
	// upstreamTest is the integration test of upstream's extension, which runs against AWS.
	upstreamTest Source = "https://github.com/gardener/gardener-extension-provider-aws/tree/master/test/integration/infrastructure"
	// cloudController finds resources by the same tags.
	cloudController Source = "https://github.com/kubernetes/cloud-provider-aws/blob/master/pkg/providers/v1/tags.go"
)

// ec2 is the page of an action in EC2's API reference, and iam in IAM's.
func ec2(action string) Source {
	return Source("https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_" + action + ".html")
}

func iam(action string) Source {
	return Source("https://docs.aws.amazon.com/IAM/latest/APIReference/API_" + action + ".html")
}

// elbv2 is the reference of an action of the API for load balancers that are not classic, and for target groups.
func elbv2(action string) Source {
	return Source("https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_" + action + ".html")
}

func elb(action string) Source {
	return Source("https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/API_" + action + ".html")
}

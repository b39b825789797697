package aws

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/login"
)

// roleSessionName names the sessions of a role in AWS' log of requests (CloudTrail).
const roleSessionName = "trellis"

// staticCredentials sign with an access key.
func staticCredentials(credentials auth.Credentials) aws.CredentialsProvider {
	key := aws.Credentials{AccessKeyID: credentials.AccessKeyID, SecretAccessKey: credentials.SecretAccessKey, Source: "Secret"}
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return key, nil })
}

// roleCredentials sign with the temporary key of a role.
func roleCredentials(logins *login.Source[aws.Credentials]) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		current, err := logins.Valid(ctx)
		if err != nil {
			return aws.Credentials{}, err
		}
		return current.Value, nil
	})
}

// roleLogin assumes a role with the token of a workload identity.
type roleLogin struct {
	client      *sts.Client
	credentials auth.Credentials
	metrics     *cloud.Metrics
}

func (r *roleLogin) login(ctx context.Context) (*login.Login[aws.Credentials], error) {
	issued, err := r.assume(ctx)
	r.metrics.Login(err)
	return issued, err
}

func (r *roleLogin) assume(ctx context.Context) (*login.Login[aws.Credentials], error) {
	output, err := invoke(ctx, nil, operation{service: "sts", name: "AssumeRoleWithWebIdentity", effect: reads}, r.client.AssumeRoleWithWebIdentity,
		&sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(r.credentials.RoleARN), RoleSessionName: aws.String(roleSessionName), WebIdentityToken: aws.String(r.credentials.Token),
		})
	if err != nil {
		return nil, err
	}
	issued := output.Credentials
	if issued == nil {
		return nil, cloud.Errorf(cloud.Unavailable, "assuming role %s: the response has no credentials", r.credentials.RoleARN)
	}
	// Lifetimes are the cloud's, of an hour by default; the end is given as a time of its clock.
	return login.New(aws.Credentials{
		AccessKeyID: aws.ToString(issued.AccessKeyId), SecretAccessKey: aws.ToString(issued.SecretAccessKey),
		SessionToken: aws.ToString(issued.SessionToken), Source: "AssumeRoleWithWebIdentity",
	}, max(time.Until(aws.ToTime(issued.Expiration)), time.Minute)), nil
}

package backend

import (
	"net/http"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
)

// codecTimeout bounds the request to the codec server.
const codecTimeout = 5 * time.Second

// codecProbe is what the codec server decodes.
const codecProbe = "armature doctor"

// CodecFindings returns what doctor reports about the codec server of the Temporal profile
// (TEMPORAL_CODEC_ENDPOINT, TEMPORAL_CODEC_AUTH): whether it decodes what this CLI
// encrypts. It returns nothing where no codec server, or no key for writing, is configured.
func CodecFindings(environment cli.Environment, converters *payload.Converters) []activities.Finding {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{EnvLookup: environment})
	if err != nil || profile.Codec == nil || profile.Codec.Endpoint == "" || !converters.Encrypts() {
		return nil
	}
	found := activities.Finding{Check: "codec server", State: activities.FindingOK, Message: profile.Codec.Endpoint + " decodes what this armature encrypts"}
	remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
		Endpoint: profile.Codec.Endpoint, Client: http.Client{Timeout: codecTimeout},
		ModifyRequest: func(r *http.Request) error {
			if profile.Codec.Auth != "" {
				r.Header.Set("Authorization", profile.Codec.Auth)
			}
			return nil
		},
	})
	sealed, err := converters.Data.ToPayload(codecProbe)
	var decoded []*commonpb.Payload
	if err == nil {
		decoded, err = remote.Decode([]*commonpb.Payload{sealed})
	}
	var text string
	if err == nil {
		err = converter.GetDefaultDataConverter().FromPayload(decoded[0], &text)
	}
	if err != nil || text != codecProbe {
		found.State = activities.FindingError
		found.Message = profile.Codec.Endpoint + " does not decode what this armature encrypts"
		if err != nil {
			found.Message += ": " + cli.OneLine(err.Error())
		}
		found.Advice = "give the codec server the encryption.keys of the workers; TEMPORAL_CODEC_AUTH has the Authorization header that it asks for"
	}
	return []activities.Finding{found}
}

package lookup

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxSettingsAge bounds the age of a cached list of settings.
const maxSettingsAge = time.Minute

// maxSettings bounds a list of settings.
const maxSettings = 5000

// Setting returns the name of an enabled setting, a resource of a type like
// Microsoft.Insights/autoscaleSettings, for a target in the same subscription; "" if there is none.
func (r *Reader) Setting(ctx context.Context, settingType string, target resource.ID) (string, error) {
	subscription, err := resource.ParseID("/subscriptions/" + target.Subscription())
	if err != nil {
		return "", nil //nolint:nilerr // settings are resources of a subscription
	}
	key := strings.ToLower(subscription.String()+" "+settingType) + " " + r.client.ConnectionName(ctx, subscription)
	targets, err := r.settings.get(ctx, key, settingType, func(ctx context.Context) (map[string]string, error) {
		items, err := r.client.List(ctx, subscription, "providers/"+settingType, types.Newest(settingType), maxSettings)
		if err != nil {
			return nil, err
		}
		return targetsOf(items), nil
	})
	return targets[target.Key()], err
}

// targetsOf returns the names of enabled settings by the keys of their targets.
func targetsOf(items []json.RawMessage) map[string]string {
	targets := map[string]string{}
	for _, item := range items {
		var setting struct {
			Name       string
			Properties struct {
				Enabled           *bool
				TargetResourceURI string `json:"targetResourceUri"`
			}
		}
		if json.Unmarshal(item, &setting) != nil || setting.Properties.Enabled != nil && !*setting.Properties.Enabled {
			continue
		}
		if id, err := resource.ParseID(setting.Properties.TargetResourceURI); err == nil {
			targets[id.Key()] = setting.Name
		}
	}
	return targets
}

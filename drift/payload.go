package drift

// Clone is a deep copy of a body.
func Clone(body map[string]any) map[string]any { return body }

// Payload x.
func Payload(desired, observed map[string]any, ignore []string) map[string]any { return desired }

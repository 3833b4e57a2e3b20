package extensions

// Data states which data a DELETE of a resource deletes. It is another fact than Recreation:
// a new DNS zone has no records, and all records of the old one are in lists of ARM.
type Data struct {
	Kind   DataKind `yaml:"kind"`
	Source Source   `yaml:"source"`
}

// DataKind is the kind of data in Data. A type without one holds unlisted data if its
// recreation loses data (LossData) and no type of its children holds data.
type DataKind string

// The kinds of data.
const (
	// DataNone is no data but the data in contents that ARM lists, if there are such.
	DataNone DataKind = "none"
	// DataUnlisted is data in the resource itself, which no list of ARM shows.
	DataUnlisted DataKind = "unlisted"
	// DataItem marks a type whose resources are the data of their parent, such as the
	// secrets of a vault. Lists of ARM show them.
	DataItem DataKind = "item"
)

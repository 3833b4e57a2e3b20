// Package extensionhost owns the registry that finds the links of a type, the chain of
// several of them, and the default at the end of every chain. Package extensions has the
// part that authors of links use.
//
// It calls links with copies of the objects, and turns a panic, a changed input, a result that
// cannot be shown and a link that does not return into a verdict that names the link.
//
// The package knows no Temporal, and sends no request of its own.
package extensionhost

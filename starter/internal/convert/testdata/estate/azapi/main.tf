terraform {
  required_providers {
    azapi = {
      source = "Azure/azapi"
    }
  }
}

variable "environment" {
  type = string
}

variable "location" {
  type    = string
  default = "westus2"
}

variable "db_password" {
  type      = string
  sensitive = true
}

data "azapi_client_config" "current" {}

locals {
  prefix = "shop-${var.environment}"
  tags   = { team = "shop" }
}

resource "azapi_resource" "group" {
  type     = "Microsoft.Resources/resourceGroups@2020-06-01"
  name     = local.prefix
  location = var.location
  tags     = local.tags
}

resource "azapi_resource" "nsg" {
  type      = "Microsoft.Network/networkSecurityGroups@2020-11-01"
  name      = "shop-nsg"
  parent_id = azapi_resource.group.id
  location  = azapi_resource.group.location
}

resource "azapi_resource" "https" {
  type      = "Microsoft.Network/networkSecurityGroups/securityRules@2020-11-01"
  name      = "allow-https"
  parent_id = azapi_resource.nsg.id
  body = {
    properties = {
      priority                 = 100
      direction                = "Inbound"
      access                   = "Allow"
      protocol                 = "Tcp"
      sourceAddressPrefix      = "Internet"
      sourcePortRange          = "*"
      destinationAddressPrefix = "*"
      destinationPortRange     = "443"
    }
  }
}

resource "azapi_resource" "vnet" {
  type      = "Microsoft.Network/virtualNetworks@2020-11-01"
  name      = "shop-vnet"
  parent_id = azapi_resource.group.id
  location  = var.location
  body = {
    properties = { addressSpace = { addressPrefixes = ["10.20.0.0/16"] } }
  }
}

resource "azapi_resource" "apps" {
  type      = "Microsoft.Network/virtualNetworks/subnets@2020-11-01"
  name      = "apps"
  parent_id = azapi_resource.vnet.id
  locks     = [azapi_resource.vnet.id]
  body = {
    properties = {
      addressPrefix        = "10.20.1.0/24"
      networkSecurityGroup = { id = azapi_resource.nsg.id }
    }
  }
}

resource "azapi_resource" "ip" {
  type      = "Microsoft.Network/publicIPAddresses@2020-11-01"
  name      = "shop-ip"
  parent_id = azapi_resource.group.id
  location  = var.location
  body = {
    sku        = { name = "Standard" }
    properties = { publicIPAllocationMethod = "Static" }
  }
}

resource "azapi_resource" "lb" {
  type      = "Microsoft.Network/loadBalancers@2020-11-01"
  name      = "shop-lb"
  parent_id = azapi_resource.group.id
  location  = var.location
  body = {
    sku = { name = "Standard" }
    properties = {
      frontendIPConfigurations = [{
        name       = "public"
        properties = { publicIPAddress = { id = azapi_resource.ip.id } }
      }]
      probes = [{
        name       = "https"
        properties = { protocol = "Tcp", port = 443, intervalInSeconds = 5, numberOfProbes = 2 }
      }]
    }
  }
}

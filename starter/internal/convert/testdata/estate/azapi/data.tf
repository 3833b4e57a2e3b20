resource "azapi_resource" "app" {
  type                   = "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31"
  name                   = "shop-app"
  parent_id              = azapi_resource.group.id
  location               = var.location
  response_export_values = ["properties.principalId"]
}

resource "azapi_resource" "api" {
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials@2023-01-31"
  name      = "api"
  parent_id = azapi_resource.app.id
  body = {
    properties = {
      issuer    = "https://westus2.oic.prod-aks.azure.com/${data.azapi_client_config.current.subscription_id}/shop/"
      subject   = "system:serviceaccount:shop:api"
      audiences = ["api://AzureADTokenExchange"]
    }
  }
}

resource "azapi_resource" "data" {
  type      = "Microsoft.Storage/storageAccounts@2021-04-01"
  name      = replace("${local.prefix}data", "-", "")
  parent_id = azapi_resource.group.id
  location  = var.location
  tags      = merge(local.tags, {})

  identity {
    type         = "UserAssigned"
    identity_ids = [azapi_resource.app.id]
  }

  body = jsonencode({
    kind = "StorageV2"
    sku  = { name = "Standard_LRS" }
    properties = {
      accessTier               = "Hot"
      supportsHttpsTrafficOnly = true
      minimumTlsVersion        = "TLS1_2"
    }
  })

  lifecycle {
    ignore_changes  = [body.properties.accessTier, tags["created-by"]]
    prevent_destroy = true
  }
}

resource "azapi_resource" "blobs" {
  type      = "Microsoft.Storage/storageAccounts/blobServices@2021-04-01"
  name      = "default"
  parent_id = azapi_resource.data.id
  body      = { properties = { deleteRetentionPolicy = { enabled = true, days = 7 } } }
}

resource "azapi_resource" "orders" {
  type       = "Microsoft.Storage/storageAccounts/blobServices/containers@2021-04-01"
  name       = "orders"
  parent_id  = azapi_resource.blobs.id
  body       = { properties = { publicAccess = "None" } }
  depends_on = [azapi_resource.assignment]
}

resource "azapi_resource" "assignment" {
  type      = "Microsoft.Authorization/roleAssignments@2022-04-01"
  name      = "3c2f1c0a-5b1d-4a6e-8f0b-6d2a9b7e4c66"
  parent_id = azapi_resource.data.id
  body = {
    properties = {
      roleDefinitionId = "/subscriptions/${data.azapi_client_config.current.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/ba92f5b4-2d11-453d-a403-e96b0029c9fe"
      principalId      = azapi_resource.app.output.properties.principalId
      principalType    = "ServicePrincipal"
    }
  }
}

resource "azapi_resource" "db" {
  type      = "Microsoft.DBforPostgreSQL/flexibleServers@2021-06-01"
  name      = "${local.prefix}-db"
  parent_id = azapi_resource.group.id
  location  = var.location
  body = {
    sku = { name = "Standard_D4s_v3", tier = "GeneralPurpose" }
    properties = {
      administratorLogin = "shop_admin"
      version            = "13"
      storage            = { storageSizeGB = 128 }
    }
  }
  sensitive_body = {
    properties = { administratorLoginPassword = var.db_password }
  }
}
